import { expect, test } from "bun:test";
import { join } from "node:path";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { placeMigrated } from "../../../test/migrated-folder.ts";
import { makeDataFolder } from "../../../test/postrider-process.ts";
import { slowly } from "../slow-work.ts";
import { createBackupProgress } from "./backup-progress.ts";

const MIB = 2 ** 20;

function open() {
  const clock = createHeldClock();
  const lines: string[] = [];
  const progress = createBackupProgress({ stderr: (text) => lines.push(text) }, clock);
  return { clock, lines, ...progress };
}

test("work on files is told of once a second, where it takes that long", async () => {
  const { clock, lines, onStep } = open();
  onStep({ what: "copied", done: 5 * MIB, of: 2_000 * MIB });
  await clock.advance(999);
  onStep({ what: "copied", done: 400 * MIB, of: 2_000 * MIB });
  expect(lines).toEqual([]);
  await clock.advance(1);
  onStep({ what: "copied", done: 500 * MIB, of: 2_000 * MIB });
  onStep({ what: "copied", done: 501 * MIB, of: 2_000 * MIB });
  for (let seconds = 0; seconds < 3; seconds++) {
    await clock.advance(1_000);
    onStep({ what: "checking the copy" });
  }
  expect(lines).toEqual(["copied: 500 of 2,000 MiB\n", "checking the copy\n"]);
});

test("a table is told of once it is complete, and once a second before that", async () => {
  const { clock, lines, onRows, onTable } = open();
  onRows("accounts", 1);
  onTable("accounts", 1);
  onTable("leases", 0);
  await clock.advance(1_000);
  onRows("messages", 12_000);
  onRows("messages", 12_200);
  await clock.advance(1_000);
  onRows("messages", 24_000, 30_000);
  onTable("messages", 30_000);
  expect(lines).toEqual([
    "accounts: 1 row\n",
    "messages: 12,000 rows so far\n",
    "messages: 24,000 of 30,000 rows\n",
    "messages: 30,000 rows\n",
  ]);
});

test("copying, checking and reading a database each tell how far they are", async () => {
  const folder = makeDataFolder();
  placeMigrated(folder.path);
  const database = join(folder.path, "postrider.db");
  const copy = join(folder.path, "copy.db");
  const steps: string[] = [];
  const onStep = ({ what, done = 0, of = 0 }: { what: string; done?: number; of?: number }) => {
    expect(done).toBeLessThanOrEqual(of);
    if (steps.at(-1) !== what) steps.push(what);
  };
  await slowly("copyOut", [database, copy], onStep);
  await slowly("digestFiles", [[copy]], onStep);
  await slowly("copyIn", [copy, join(folder.path, "restored.db")], onStep);
  expect(steps).toEqual(["copied", "checking the copy", "read for checksums", "copied", "checking the copy"]);
  folder.remove();
});

test("a copy whose file is not there yet is told of as one that has just begun", async () => {
  const folder = makeDataFolder();
  placeMigrated(folder.path);
  const database = join(folder.path, "postrider.db");
  const { clock, lines, onStep } = open();
  await clock.advance(1_000);
  // Into a folder that is not there: the copy fails, and until then has no file.
  await expect(slowly("copyOut", [database, join(folder.path, "gone", "copy.db")], onStep)).rejects.toThrow();
  expect(lines).toEqual([expect.stringMatching(/^copied: 0 of \d+ MiB\n$/)]);
  folder.remove();
});
