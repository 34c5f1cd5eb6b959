import type { Clock } from "../../../core/clock.ts";
import type { Vault } from "../../vault.ts";
import { readMeta } from "../database/meta.ts";
import type { Database } from "../database/transactions.ts";
import { KEY_CHANGED } from "./under-key.ts";

export interface KeyWatch {
  readonly vault: Vault;
  readonly clock: Clock;
  /** Called when the database has got another master key: this process can read and write nothing sealed any more. */
  readonly onKeyChanged?: (words: string) => void;
}

const EVERY_MS = 5_000;

/** Calls back once, within seconds of the change. Returns how to stop. */
export function watchKey(db: Database, { vault, clock, onKeyChanged }: KeyWatch): () => void {
  if (!onKeyChanged) return () => {};
  let isStopped = false;
  let cancel = () => {};
  const lookLater = () => {
    if (!isStopped) cancel = clock.after(EVERY_MS, () => void look());
  };
  const look = async () => {
    // What cannot be read now can be read later.
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
