import type { Clock } from "../../../core/clock.ts";
import type { Vault } from "../../vault.ts";
import { readMeta } from "../database/meta.ts";
import type { Database } from "../database/transactions.ts";
import { KEY_CHANGED } from "./under-key.ts";

export interface KeyWatch {
  readonly vault: Vault;
  readonly clock: Clock;
  /** Called when the database's master key was rotated: this process can no longer read or write anything sealed. */
  readonly onKeyChanged?: (words: string) => void;
}

const EVERY_MS = 5_000;

/** Checks every 5 s whether the master key was rotated, and calls back once. Returns a function that stops it. */
export function watchKey(db: Database, { vault, clock, onKeyChanged }: KeyWatch): () => void {
  if (!onKeyChanged) return () => {};
  let isStopped = false;
  let cancel = () => {};
  const lookLater = () => {
    if (!isStopped) cancel = clock.after(EVERY_MS, () => void look());
  };
  const look = async () => {
    // If the database cannot be read now, the next look will tell.
    const value = await readMeta(db, "master_key_check").catch(() => undefined);
    if (value === undefined || value === vault.checkValue) return lookLater();
    if (!isStopped) onKeyChanged(KEY_CHANGED);
  };
  lookLater();
  return () => {
    isStopped = true;
    cancel();
  };
}
