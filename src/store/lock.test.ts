import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystemClock } from "../cli/system-clock.ts";
import { lockFolder } from "./lock.ts";
import { openSqliteStore } from "./open-store.ts";
import { openDriver } from "./sqlite/database/driver.ts";
import { inFolder, MASTER_KEY, threadProgram } from "./sqlite/sqlite-world.contract.ts";

test("a folder is one process's, until it lets go", () =>
  inFolder(async (folder) => {
    const lock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow("another process is using it");
    lock.release();
    lockFolder(folder).release();
  }));

test("another process holds the folder until it is killed, however that happens", () =>
  inFolder(async (folder) => {
    const holder = join(import.meta.dir, "lock.ts");
    const program = `import { lockFolder } from ${JSON.stringify(holder)};
      globalThis.lock = lockFolder(${JSON.stringify(folder)});
      console.log("held");
      process.stdin.resume();`;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
    await once(child.stdout, "data");
    expect(() => lockFolder(folder)).toThrow("another process is using it");
    child.kill("SIGKILL");
    await once(child, "exit");
    lockFolder(folder).release();
  }));

test("of a lock that was not there before nothing is left, and the one of another stays", () =>
  inFolder(async (folder) => {
    const first = lockFolder(folder);
    first.forget();
    expect(readdirSync(folder)).toEqual([]);
    first.release();
    lockFolder(folder).release();
    const later = lockFolder(folder);
    later.forget();
    later.release();
    expect(readdirSync(folder)).toEqual(["postrider.lock"]);
  }));

test("who reads the database keeps the next process out only where somebody has put another lock there", () =>
  inFolder(async (folder) => {
    const path = join(folder, "postrider.lock");
    lockFolder(folder).release();
    const reader = openDriver(join(folder, "postrider.db"));
    reader.exec("PRAGMA journal_mode = WAL; CREATE TABLE a (b)");
    lockFolder(folder).release();
    rmSync(path);
    writeFileSync(path, "");
    for (let tries = 0; tries < 2; tries++)
      expect(() => lockFolder(folder)).toThrow("another process is using it");
    reader.close();
    lockFolder(folder).release();
    const next = openDriver(join(folder, "postrider.db"));
    next.prepare("SELECT * FROM a").all();
    lockFolder(folder).release();
    next.close();
  }));

/**
 * Each process tries so often to take the folder, or until it has it once, and leaves nothing in it; what is beside it would tell
 * if two had it.
 */
const TAKES = 1_500;

test("among processes that take a folder and leave nothing in it no two have it at the same time", () =>
  inFolder(async (folder) => {
    const shared = join(folder, "shared");
    mkdirSync(shared);
    const program = `import { rmSync, statSync, writeFileSync } from "node:fs";
      import { lockFolder } from ${JSON.stringify(join(import.meta.dir, "lock.ts"))};
      let taken = 0;
      for (let n = 0; n < ${TAKES} || taken === 0; n++) {
        let lock;
        try { lock = lockFolder(${JSON.stringify(shared)}); }
        catch (error) { if (error.message.includes("another process is using it")) continue; throw error; }
        writeFileSync(${JSON.stringify(join(folder, "mine"))}, "", { flag: "wx" });
        rmSync(${JSON.stringify(join(folder, "mine"))});
        // Throws if it has locked a file that is gone, which another would lock no longer.
        statSync(${JSON.stringify(join(shared, "postrider.lock"))});
        taken++;
        lock.forget();
        lock.release();
      }
      console.log(taken);`;
    const children = Array.from({ length: 4 }, () =>
      Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" }),
    );
    const ends = await Promise.all(
      children.map(async (child) => [
        await new Response(child.stderr).text(),
        Number(await new Response(child.stdout).text()) > 0,
        await child.exited,
      ]),
    );
    expect(ends).toEqual(children.map(() => ["", true, 0]));
  }));

test.each([
  ["deleted", (path: string) => rmSync(path)],
  [
    "replaced",
    (path: string) => {
      rmSync(path);
      writeFileSync(path, "");
    },
  ],
])(
  "a file that is %s between its opening and its locking is no lock: the one that is there then is",
  (_, meddle) =>
    inFolder(async (folder) => {
      const path = join(folder, "postrider.lock");
      const opened = Database.prototype.run;
      let begun = 0;
      const run = spyOn(Database.prototype, "run").mockImplementation(function (this: Database, sql) {
        if (sql === "BEGIN EXCLUSIVE" && ++begun === 1) meddle(path);
        return opened.call(this, sql);
      });
      const lock = lockFolder(folder);
      run.mockRestore();
      expect(begun).toBe(2);
      const other = openDriver(path);
      expect(() => other.exec("BEGIN EXCLUSIVE")).toThrow("locked");
      other.close();
      lock.release();
    }),
);

test("a journal that an earlier version left beside the lock is no obstacle", () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, "postrider.lock"), "");
    writeFileSync(join(folder, "postrider.lock-journal"), "");
    const lock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow("another process is using it");
    lock.release();
  }));

test("a second store on a folder is refused, and the database stays readable by others", () =>
  inFolder(async (dataFolder) => {
    const options = {
      dataFolder,
      masterKey: MASTER_KEY,
      randomBytes,
      now: Date.now,
      thread: {
        program: threadProgram(),
        clock: createSystemClock(),
        onLost: (error: Error) => {
          throw error;
        },
      },
    };
    const store = await openSqliteStore(options);
    await store.records.setSettings(undefined, { a: "1" });
    await expect(openSqliteStore(options)).rejects.toThrow("another process is using it");
    const reader = openDriver(join(dataFolder, "postrider.db"));
    expect(reader.prepare("SELECT value FROM settings").all()).toEqual([{ value: "1" }]);
    reader.close();
    await store.close();
    const again = await openSqliteStore(options);
    expect(await again.records.settings(undefined)).toEqual({ a: "1" });
    await again.close();
  }));

test("a folder that cannot be opened is an error that names it", () => {
  expect(() => lockFolder("/no/such/folder")).toThrow("/no/such/folder cannot be locked: unable to open");
});

test("a folder whose lock cannot be taken for another reason is not said to be another process's", () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, "postrider.lock"), "written over by something else");
    expect(() => lockFolder(folder)).toThrow("cannot be locked: file is not a database");
  }));
