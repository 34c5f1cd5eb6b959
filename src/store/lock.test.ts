import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystemClock } from "../cli/system-clock.ts";
import { lockFolder } from "./lock.ts";
import { openStore } from "./open-store.ts";
import { openDriver } from "./sqlite/database/driver.ts";
import { inFolder, MASTER_KEY, THREAD_PROGRAM } from "./sqlite/sqlite-world.contract.ts";

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
      thread: {
        program: THREAD_PROGRAM,
        clock: createSystemClock(),
        onLost: (error: Error) => {
          throw error;
        },
      },
    };
    const store = await openStore(options);
    await store.records.setSettings(undefined, { a: "1" });
    await expect(openStore(options)).rejects.toThrow("another process is using it");
    const reader = openDriver(join(dataFolder, "postrider.db"));
    expect(reader.prepare("SELECT value FROM settings").all()).toEqual([{ value: "1" }]);
    reader.close();
    await store.close();
    const again = await openStore(options);
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
