import { readKeyCheckValue, rotateMasterKey } from "../../store/postgres/records/rotate-master-key.ts";
import { createVault } from "../../store/vault.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import { withReasons } from "../commands/or-refusal.ts";
import { mailRootOf } from "../email/mail-keys.ts";
import { findOldKey, isFiled, retireKeyFile } from "./key-files.ts";
import { type KeyRotation, WHILE_MIGRATING } from "./rotate-key.ts";

export interface SharedKeyRotation extends KeyRotation {
  /** URL of the PostgreSQL database. */
  readonly databaseUrl: string;
}

/**
 * Gives a PostgreSQL database another master key, while none of its processes runs. The new key must be given as
 * `newSecret`, since all processes need it. Its key file in the data folder, if it has one, is put aside.
 */
export async function rotateSharedKey(rotation: SharedKeyRotation): Promise<"rotated"> {
  const { dataFolder, databaseUrl: url, newSecret: next, randomBytes, forgetLinks } = rotation;
  const { onCutOff, onStep, onMigration } = rotation;
  if (next === undefined) {
    throw new CommandFailure(
      "POSTRIDER_NEW_SECRET: required with DATABASE_URL, and then as the POSTRIDER_SECRET of every process",
    );
  }
  const checkValue = await withReasons(() => readKeyCheckValue(url));
  if (checkValue === undefined) throw new CommandFailure("no service has been started on this database yet");
  const old = findOldKey(rotation, checkValue);
  onCutOff("nothing was changed");
  await withReasons(() =>
    rotateMasterKey({
      url,
      onMigration(step) {
        onCutOff(WHILE_MIGRATING);
        onMigration?.(step);
      },
      from: createVault({ masterKey: old, randomBytes }),
      to: createVault({ masterKey: next, randomBytes }),
      ...(!forgetLinks && { earlierKey: mailRootOf(old) }),
      beforeCommit() {
        onCutOff("the database has the old key or the new one: the command run again says which");
        onStep?.("sealed");
      },
    }),
  );
  onCutOff("the rotation is complete");
  onStep?.("committed");
  if (isFiled(dataFolder, old)) retireKeyFile(dataFolder);
  return "rotated";
}
