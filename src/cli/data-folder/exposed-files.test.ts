import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";

import { placeMigrated } from "../../../test/migrated-folder.ts";
import { makeDataFolder } from "../../../test/postrider-process.ts";
import { startPostrider } from "../compose.ts";
import { readConfig } from "../config.ts";
import { createSystemClock } from "../system-clock.ts";

/** What a start on a data folder with these modes warns of. */
async function warnings(folderMode: number, keyMode: number) {
  const folder = makeDataFolder();
  placeMigrated(folder.path);
  chmodSync(folder.path, folderMode);
  const key = join(folder.path, "master.key");
  chmodSync(key, keyMode);
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void logged.push(JSON.parse(line)) });
  const read = readConfig({ PORT: "0", POSTRIDER_DATA: folder.path }, { roles: "api" });
  if ("problems" in read) throw new Error(read.problems.join("; "));
  const service = await startPostrider({ config: read.config, clock: createSystemClock(), log });
  await service.stop();
  folder.remove();
  return { key, logged };
}

test("a start warns of a master key that every user of the machine may read, and how to change that", async () => {
  const { key, logged } = await warnings(0o755, 0o644);
  expect(logged).toEqual([
    expect.objectContaining({
      level: 40,
      files: [key],
      msg: "every user of this machine can read or change these files: take the right away with chmod o-rwx",
    }),
  ]);
});

test.each([
  ["where others cannot enter the folder", 0o750, 0o644],
  ["where they cannot open the file, but its group can", 0o755, 0o640],
])("it warns of nothing %s", async (_, folderMode, keyMode) => {
  expect((await warnings(folderMode, keyMode)).logged).toEqual([]);
});
