import { expect, test } from "bun:test";
import { join } from "node:path";
import { configure } from "../open-sqlite.ts";
import { inFolder } from "../sqlite-world.contract.ts";
import { createDatabase, type Database } from "./database.ts";
import { type Driver, openDriver } from "./driver.ts";
import { emptyWal } from "./empty-wal.ts";
import { createLockMemory, createWriteLock } from "./write-lock.ts";

interface Both {
  readonly db: Database;
  /** Of somebody else. */
  readonly other: Driver;
  count(): Promise<number | undefined>;
}

/** A database with an empty table, open twice. */
function opened(run: (both: Both) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    const [driver, other] = [openDriver(join(folder, "p.db")), openDriver(join(folder, "p.db"))];
    for (const each of [driver, other]) configure(each);
    other.exec("CREATE TABLE a (b INTEGER)");
    const db = createDatabase({ driver, schedule: setImmediate });
    const counted = db.prepare<{ count: number }>("SELECT count(*) AS count FROM a");
    await run({ db, other, count: () => db.read(() => counted.get()?.count) });
    await db.close();
    other.close();
  });
}

const INSERT = "INSERT INTO a VALUES (1)";
const turn = () => new Promise<void>((resolve) => void setImmediate(() => setImmediate(resolve)));

test("reads of one turn of the event loop see one state, those of the next what others have committed", () =>
  opened(async ({ other, count }) => {
    expect(await count()).toBe(0);
    other.exec(INSERT);
    expect(await count()).toBe(0);
    await turn();
    expect(await count()).toBe(1);
  }));

test("a read sees what was written before it, in the same turn too", () =>
  opened(async ({ db, count }) => {
    expect(await count()).toBe(0);
    await db.write(() => void db.prepare(INSERT).run());
    expect(await count()).toBe(1);
  }));

test("a read sees what another thread has written and been answered, in the same turn too", () =>
  inFolder(async (folder) => {
    const memory = createLockMemory();
    const [one, another] = [1, 2].map(() => {
      const driver = openDriver(join(folder, "p.db"));
      configure(driver);
      return createDatabase({ driver, schedule: setImmediate, lock: createWriteLock(memory) });
    }) as [Database, Database];
    await one.write(() => void one.prepare("CREATE TABLE a (b INTEGER)").run());
    const counted = another.prepare<{ count: number }>("SELECT count(*) AS count FROM a");
    const count = () => another.read(() => counted.get()?.count);
    // The write is scheduled first, so that the turn of the reads ends after it.
    const written = one.write(() => void one.prepare(INSERT).run());
    expect(await count()).toBe(0);
    await written;
    expect(await count()).toBe(1);
    await one.close();
    await another.close();
  }));

test("after `renew` a read sees what others have committed", () =>
  opened(async ({ db, other, count }) => {
    await count();
    other.exec(INSERT);
    db.renew();
    expect(await count()).toBe(1);
  }));

test("who reads again and again and lets no turn end comes to see what others have committed", () =>
  opened(async ({ other, count }) => {
    await count();
    other.exec(INSERT);
    let reads = 0;
    while ((await count()) === 0 && reads < 1_000) reads++;
    expect(reads).toBeLessThan(1_000);
  }));

test("the log can be emptied in a turn that has read", () =>
  opened(async ({ db, other, count }) => {
    other.exec(INSERT);
    await count();
    expect(await db.outsideTransaction(() => emptyWal(db))).toBe(true);
  }));
