import { expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { inFolder } from "../sqlite-world.contract.ts";
import { type Driver, openDriver } from "./driver.ts";
import { countLostCommits } from "./lost-commits.ts";

const LOG_HEADER = 32;
const FRAME = 24 + 4096;
const COMMITS = 6;

/** Makes a database whose log has so many commits behind its first ones, of one frame each; resolves with a copy, as after a crash. */
function crashed(folder: string, before: (driver: Driver) => void = () => {}): string {
  const driver = openDriver(join(folder, "live.db"));
  for (const pragma of ["journal_mode = WAL", "wal_autocheckpoint = 0"]) driver.exec(`PRAGMA ${pragma}`);
  driver.exec("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)");
  before(driver);
  for (let n = 1; n <= COMMITS; n++) driver.prepare("INSERT INTO t VALUES (?, 'x')").run(n);
  const copy = join(folder, "copy.db");
  for (const end of ["", "-wal"]) copyFileSync(join(folder, `live.db${end}`), `${copy}${end}`);
  driver.close();
  return copy;
}

/** Changes an octet of a frame of the log, counted from its last one, which is 1. */
function damage(database: string, { frame, at }: { frame: number; at: number }): void {
  const place = statSync(`${database}-wal`).size - frame * FRAME + at;
  writeAt(`${database}-wal`, place, (octet) => octet ^ 0x55);
}

function writeAt(path: string, place: number, change: (octet: number) => number): void {
  const file = openSync(path, "r+");
  writeSync(file, Uint8Array.of(change(readFileSync(path)[place] ?? 0)), 0, 1, place);
  closeSync(file);
}

function rowsIn(database: string): number {
  const driver = openDriver(database);
  const { rows } = driver.prepare<{ rows: number }>("SELECT count(*) AS rows FROM t").get() ?? { rows: -1 };
  driver.close();
  return rows;
}

const DAMAGES = [
  { what: "number of its page", at: 0, unseen: 0 },
  { what: "size of the database", at: 5, unseen: 0 },
  { what: "page", at: FRAME - 1, unseen: 0 },
  // Nothing can be shown to follow such a frame.
  { what: "salt", at: 9, unseen: 1 },
  { what: "checksum", at: 17, unseen: 1 },
] as const;

for (const { what, at, unseen } of DAMAGES) {
  for (const frame of [2, 3, COMMITS]) {
    const known = frame - 1 - unseen;
    test(`of ${frame} commits that are dropped since the first one's ${what} is damaged ${known} are known to be lost`, () =>
      inFolder(async (folder) => {
        const database = crashed(folder);
        damage(database, { frame, at });
        expect(countLostCommits(database)).toBe(known);
        expect(rowsIn(database)).toBe(COMMITS - frame);
      }));
  }
}

/** What a crash leaves, and how many commits SQLite finds in it. */
const CRASHES: Readonly<Record<string, readonly [leave: (folder: string) => string, rows: number]>> = {
  "that is whole": [crashed, COMMITS],
  "of a database behind a symbolic link": [
    (folder) => {
      symlinkSync(crashed(folder), join(folder, "link.db"));
      return join(folder, "link.db");
    },
    COMMITS,
  ],
  "whose last commit is half there": [
    (folder) => {
      const database = crashed(folder);
      truncateSync(`${database}-wal`, statSync(`${database}-wal`).size - FRAME / 2);
      return database;
    },
    COMMITS - 1,
  ],
  "whose last commit is damaged, which may not have been confirmed": [
    (folder) => {
      const database = crashed(folder);
      damage(database, { frame: 1, at: 100 });
      return database;
    },
    COMMITS - 1,
  ],
  "that ends in front of commits of a log from before": [
    (folder) =>
      crashed(folder, (driver) => {
        for (let n = 101; n <= 120; n++) driver.prepare("INSERT INTO t VALUES (?, 'old')").run(n);
        driver.prepare("DELETE FROM t").run();
        driver.prepare("PRAGMA wal_checkpoint(RESTART)").all();
      }),
    COMMITS,
  ],
  "in which a transaction was written and taken back": [
    (folder) =>
      crashed(folder, (driver) => {
        driver.exec("PRAGMA cache_size = 1");
        driver.exec("BEGIN");
        for (let n = 101; n <= 120; n++)
          driver.prepare("INSERT INTO t VALUES (?, hex(zeroblob(2000)))").run(n);
        driver.exec("ROLLBACK");
      }),
    COMMITS,
  ],
};

for (const [which, [leave, rows]] of Object.entries(CRASHES)) {
  test(`nothing is said to be lost of a log ${which}`, () =>
    inFolder(async (folder) => {
      const database = leave(folder);
      expect(countLostCommits(database)).toBe(0);
      expect(rowsIn(database)).toBe(rows);
    }));
}

test("of a log whose own header is damaged nobody can tell what it held, nor of one that is not there, or not readable", () =>
  inFolder(async (folder) => {
    const database = crashed(folder);
    for (const place of [1, 9, 17, 25]) {
      writeAt(`${database}-wal`, place, (octet) => octet ^ 0x55);
      expect(countLostCommits(database)).toBe(0);
      writeAt(`${database}-wal`, place, (octet) => octet ^ 0x55);
    }
    truncateSync(`${database}-wal`, LOG_HEADER / 2);
    expect(countLostCommits(database)).toBe(0);
    rmSync(`${database}-wal`);
    expect(countLostCommits(database)).toBe(0);
    mkdirSync(`${database}-wal`);
    expect(countLostCommits(database)).toBe(0);
    expect(countLostCommits(join(folder, "none.db"))).toBe(0);
  }));
