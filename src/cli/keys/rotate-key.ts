import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { RandomBytes } from "../../core/uuid.ts";
import { syncFolder, writePrivateFile } from "../../store/private-file.ts";
import { readKeyCheckValue, refuseOtherVersionAt } from "../../store/sqlite/backup.ts";
import type { MigrationOptions } from "../../store/sqlite/migrate-older.ts";
import { rotateMasterKey } from "../../store/sqlite/records/rotate-master-key.ts";
import { createVault } from "../../store/vault.ts";
import type { OnCutOff } from "../commands/cut-off.ts";
import { withPlace, withReasons } from "../commands/or-refusal.ts";
import { DATABASE_FILE } from "../data-folder/data-folder.ts";
import { ownDatabase } from "../data-folder/own-database.ts";
import { type OnLostCommits, withDataFolder } from "../data-folder/with-data-folder.ts";
import { mailRootOf } from "../email/mail-keys.ts";
import { isKeyOf, type KeyPlaces, readKey } from "./find-master-key.ts";
import { findOldKey, isFiled, putKeyAside, retireKeyFile } from "./key-files.ts";
import { MASTER_KEY_FILE, NEXT_KEY_FILE } from "./master-key.ts";

export interface KeyRotation extends MigrationOptions, KeyPlaces {
  /** The new key's text; absent: one is generated and kept in the data folder. */
  readonly newSecret?: string;
  /** Makes links and return paths of mail already sent invalid, for an old key that others know. */
  readonly forgetLinks: boolean;
  readonly randomBytes: RandomBytes;
  readonly onCutOff: OnCutOff;
  readonly onLostCommits?: OnLostCommits;
  /** For tests, which end the process at a step. */
  readonly onStep?: (step: RotationStep) => void;
}

export type RotationStep = "new key written" | "sealed" | "committed" | "old key put aside";

/** What is left if a signal ends the command. The last step may be done although that was not reported yet. */
export const WHILE_MIGRATING = "the key was not changed, and the schema only if all of its steps were done";

const KEY_OCTETS = 32;

/**
 * Gives the data folder of a stopped service another master key. The new key is on disk before the database is sealed with it,
 * and the old one stays until afterwards, so that a start after an interruption finds the right one. "completed": this call
 * only completed an earlier rotation, which had been interrupted. A further one would replace the key that older backups need.
 */
export function rotateKey(rotation: KeyRotation): Promise<"rotated" | "completed"> {
  const { dataFolder, newSecret, forgetLinks, onLostCommits } = rotation;
  ownDatabase(dataFolder);
  const settleAndRotate = async () => {
    const isCompleted = settleKeyFiles(dataFolder);
    if (isCompleted && newSecret === undefined && !forgetLinks) return "completed";
    await withPlace(dataFolder, () => rotate(rotation));
    return "rotated";
  };
  return withDataFolder(dataFolder, settleAndRotate, onLostCommits);
}

async function rotate(rotation: KeyRotation): Promise<void> {
  const { dataFolder, newSecret, forgetLinks, randomBytes, onCutOff, onStep } = rotation;
  const { migrationThread, onMigration } = rotation;
  const path = join(dataFolder, DATABASE_FILE);
  await withReasons(async () => refuseOtherVersionAt(path));
  const checkValue = readKeyCheckValue(path);
  retireStaleFile(rotation, checkValue);
  const old = findOldKey(rotation, checkValue);
  const next = newSecret ?? Buffer.from(randomBytes(KEY_OCTETS)).toString("hex");
  const nextFile = join(dataFolder, NEXT_KEY_FILE);
  const takeBack = () => rmSync(nextFile, { force: true });
  onCutOff("nothing was changed", takeBack);
  if (newSecret === undefined) writePrivateFile(nextFile, `${next}\n`);
  onStep?.("new key written");
  await rotateMasterKey({
    path,
    migrationThread,
    onMigration(step) {
      onCutOff(WHILE_MIGRATING, takeBack);
      onMigration?.(step);
    },
    // A signal may also come when something fails after the commit, and then the new key must be kept.
    beforeCommit() {
      onCutOff("the key is the old one or the new one: the next start finds out");
      onStep?.("sealed");
    },
    from: createVault({ masterKey: old, randomBytes }),
    to: createVault({ masterKey: next, randomBytes }),
    ...(!forgetLinks && { earlierKey: mailRootOf(old) }),
  });
  onCutOff("the rotation is complete");
  onStep?.("committed");
  putKeyAside(dataFolder);
  onStep?.("old key put aside");
  if (newSecret === undefined) adoptNextKey(dataFolder);
  else retireKeyFile(dataFolder);
}

/** Puts aside the key file that an interrupted rotation to `newSecret` left. */
function retireStaleFile({ dataFolder, newSecret }: KeyRotation, checkValue: string | undefined): void {
  if (newSecret === undefined || checkValue === undefined || !isKeyOf(checkValue, newSecret)) return;
  if (!isFiled(dataFolder, newSecret)) retireKeyFile(dataFolder);
}

/** Completes or undoes a rotation that was interrupted. Call it before reading the master key. */
export async function finishRotation(dataFolder: string): Promise<void> {
  if (!existsSync(join(dataFolder, NEXT_KEY_FILE))) return;
  await withDataFolder(dataFolder, () => settleKeyFiles(dataFolder));
}

/** Adopts the next key if the database is sealed with it, else deletes it. Returns whether it was adopted. Needs the folder's lock. */
function settleKeyFiles(dataFolder: string): boolean {
  const path = join(dataFolder, NEXT_KEY_FILE);
  const next = readKey(path);
  const database = join(dataFolder, DATABASE_FILE);
  const checkValue = existsSync(database) ? readKeyCheckValue(database) : undefined;
  if (next !== undefined && checkValue !== undefined && isKeyOf(checkValue, next)) {
    putKeyAside(dataFolder);
    adoptNextKey(dataFolder);
    return true;
  }
  rmSync(path, { force: true });
  return false;
}

function adoptNextKey(dataFolder: string): void {
  renameSync(join(dataFolder, NEXT_KEY_FILE), join(dataFolder, MASTER_KEY_FILE));
  syncFolder(dataFolder);
}
