/** Keys are found wherever their names are: in memory, in the index, on the way there, or written by another connection. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { StoreUnavailable } from "../../store.ts";
import { createDatabase, type Database } from "../database/database.ts";
import { type Driver, openDriver } from "../database/driver.ts";
import { createLockMemory, createWriteLock } from "../database/write-lock.ts";
import { migrate } from "../migrate.ts";
import keysInOrder from "../migrations/0013_keys_in_order.sql" with { type: "text" };
import { configure } from "../open-sqlite.ts";
import { inFolder } from "../sqlite-world.contract.ts";
import { createIdempotencyKeys, type IdempotencyKeys } from "./idempotency-keys.ts";

const LIFE_MS = 100;
/** So few that names are always on their way to the index. */
const GENERATION = 4;

interface Connection {
  readonly driver: Driver;
  readonly db: Database;
  readonly keys: IdempotencyKeys;
  /** Makes the next commits fail. */
  readonly disk: { isFull: boolean };
}

function open(path: string, { memory = createLockMemory(), generation = GENERATION } = {}): Connection {
  const driver = openDriver(path);
  configure(driver);
  // What is looked at here does not depend on the disk.
  driver.exec("PRAGMA synchronous = OFF");
  migrate(driver);
  const disk = { isFull: false };
  const beforeCommit = () => {
    if (disk.isFull) throw new Error("the disk is full");
  };
  const db = createDatabase({ driver, schedule: setImmediate, lock: createWriteLock(memory), beforeCommit });
  return { driver, db, disk, keys: createIdempotencyKeys(db, generation) };
}

type Taken = readonly [name: number, body: string];

function take({ keys }: Connection, [name, body]: Taken, now: number): string | undefined {
  const key = { scope: "s", key: `key ${name}`, bodyDigest: "d", now, expiresAt: now + LIFE_MS };
  return keys.take(key, { status: 202, body })?.body;
}

function takeFirst(connection: Connection, names: number): void {
  for (let name = 0; name < names; name++) take(connection, [name, "x"], 0);
}

const count = (driver: Driver, table: string) =>
  driver.prepare<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;

/** What a client may rely on, whoever keeps it. */
function createModel() {
  const kept = new Map<number, { readonly body: string; readonly expiresAt: number }>();
  const find = (name: number, now: number) => {
    const saved = kept.get(name);
    return saved && saved.expiresAt > now ? saved.body : undefined;
  };
  return {
    find,
    take([name, body]: Taken, now: number) {
      const first = find(name, now);
      if (first === undefined) kept.set(name, { body, expiresAt: now + LIFE_MS });
      return first;
    },
  };
}

interface World {
  readonly connections: Connection[];
  readonly model: ReturnType<typeof createModel>;
  readonly reopen: () => Connection;
  now: number;
}

interface Step {
  readonly who: number;
  readonly names: readonly number[];
  readonly body: string;
}

type Act = (world: World, connection: Connection, step: Step) => Promise<void>;

const takeAll = ({ now }: World, connection: Connection, { names, body }: Step) =>
  names.map((name) => connection.db.write(() => take(connection, [name, body], now), 1, "late"));

/** With a call that fails between them. */
function takeAround(world: World, connection: Connection, step: Step) {
  const half = Math.ceil(step.names.length / 2);
  const before = takeAll(world, connection, { ...step, names: step.names.slice(0, half) });
  const failed = connection.db.write(fail, 1, "late").catch(String);
  return { before, failed, after: takeAll(world, connection, { ...step, names: step.names.slice(half) }) };
}

const modelled = ({ model, now }: World, { names, body }: Step) =>
  names.map((name) => model.take([name, body], now));

const ACTS: Readonly<Record<string, Act>> = {
  async take(world, connection, step) {
    expect(await Promise.all(takeAll(world, connection, step))).toEqual(modelled(world, step));
  },
  async "take beside a call that fails"(world, connection, step) {
    const { before, failed, after } = takeAround(world, connection, step);
    expect(await Promise.all([...before, ...after])).toEqual(modelled(world, step));
    expect(await failed).toContain("a bug");
  },
  async "lose the commit"(world, connection, step) {
    connection.disk.isFull = true;
    const isAll = step.names.length % 2 === 0;
    const { before, after } = isAll
      ? { before: [], after: takeAll(world, connection, step) }
      : takeAround(world, connection, step);
    for (const one of await Promise.allSettled([...before, ...after])) expect(one.status).toBe("rejected");
    connection.disk.isFull = false;
  },
  async find({ model, now }, { keys }, { names }) {
    const found = names.map((name) => keys.find({ scope: "s", key: `key ${name}`, now })?.body);
    expect(found).toEqual(names.map((name) => model.find(name, now)));
  },
  async prune({ now }, { db, keys }) {
    await db.write(() => keys.prune(now, 5));
  },
  async "start again"({ connections, reopen }, { db }, { who }) {
    await db.close();
    connections[who] = reopen();
  },
};

const steps = fc.array(
  fc.record({
    // Mostly new keys, so that names go to the index all the time.
    act: fc.oneof({ weight: 6, arbitrary: fc.constant("take") }, fc.constantFrom(...Object.keys(ACTS))),
    who: fc.nat({ max: 1 }),
    names: fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 6 }),
    ms: fc.nat({ max: 12 }),
  }),
  { minLength: 30, maxLength: 60, size: "max" },
);

test(
  "a key that was taken is a repeat at every connection until it expires, whatever fails or starts again",
  () =>
    inFolder(async (folder) => {
      let run = 0;
      const property = fc.asyncProperty(steps, async (all) => {
        const path = join(folder, `${++run}.db`);
        const memory = createLockMemory();
        const reopen = () => open(path, { memory });
        const world: World = { connections: [reopen(), reopen()], model: createModel(), reopen, now: 1_000 };
        for (const [at, { act, who, names, ms }] of all.entries()) {
          world.now += ms;
          await ACTS[act]?.(world, world.connections[who] as Connection, {
            who,
            names,
            body: `answer ${at}`,
          });
        }
        for (const { db } of world.connections) await db.close();
      });
      await fc.assert(property, { numRuns: 40, interruptAfterTimeLimit: 30_000 });
    }),
  120_000,
);

test("names go to the index a generation at a time, and leave it with their keys", () =>
  inFolder(async (folder) => {
    const connection = open(join(folder, "p.db"));
    const { db, driver, keys } = connection;
    const takeOne = (name: number) => db.write(() => take(connection, [name, "x"], 0), 1, "late");
    for (let name = 0; name < 7; name++) await takeOne(name);
    expect(count(driver, "key_names")).toBe(0);
    for (let name = 7; name < 40; name++) await takeOne(name);
    expect(count(driver, "key_names")).toBeGreaterThan(20);
    let pruned = 0;
    for (let turn = 0; turn < 40 && pruned < 40; turn++) {
      pruned += await db.write(() => keys.prune(LIFE_MS, 5));
    }
    for (let turn = 0; turn < 4; turn++) await db.write(() => keys.prune(LIFE_MS, 5));
    expect([count(driver, "idempotency_keys"), count(driver, "key_names")]).toEqual([0, 0]);
    await db.close();
  }));

test("names of keys that have expired leave the index, however many later ones are in it", () =>
  inFolder(async (folder) => {
    const connection = open(join(folder, "p.db"));
    const { db, driver, keys } = connection;
    const takeOne = (name: number, now: number) =>
      db.write(() => take(connection, [name, "x"], now), 1, "late");
    const early = Array.from({ length: 100 }, (_, name) => name);
    const late = early.map((name) => name + early.length);
    for (const name of early) await takeOne(name, 0);
    for (const name of late) await takeOne(name, LIFE_MS - 1);
    // One call looks at fewer names than there are later ones.
    for (let turn = 0; turn < 40; turn++) await db.write(() => keys.prune(LIFE_MS, 5));
    expect(count(driver, "idempotency_keys")).toBe(late.length);
    expect(count(driver, "key_names")).toBeLessThanOrEqual(late.length);
    await db.close();
  }));

test("names go to the index in steps, and not with each transaction", () =>
  inFolder(async (folder) => {
    const connection = open(join(folder, "p.db"), { generation: 512 });
    const { db, driver } = connection;
    await db.write(() => takeFirst(connection, 2 * 512 - 1), 1, "late");
    const counts = new Set<number | undefined>();
    for (let name = 0; name < 32; name++) {
      await db.write(() => take(connection, [name + 5_000, "x"], 0), 1, "late");
      counts.add(count(driver, "key_names"));
    }
    expect([...counts]).toEqual([0, 16, 32, 48, 64]);
    await db.close();
  }));

test("however many calls fail before one that does not, it moves no more than a step of names", () =>
  inFolder(async (folder) => {
    const connection = open(join(folder, "p.db"), { generation: 512 });
    const { db, driver } = connection;
    await db.write(() => takeFirst(connection, 2 * 512 - 1), 1, "late");
    const takeOne = () => take(connection, [5_000, "x"], 0);
    const takeAndFail = () => {
      takeOne();
      fail();
    };
    for (let call = 0; call < 200; call++) await db.write(takeAndFail, 1, "late").catch(() => {});
    await db.write(takeOne, 1, "late");
    expect(count(driver, "key_names")).toBe(16 + 2);
    await db.close();
  }));

test("a generation goes to the index though a call fails before each key", () =>
  inFolder(async (folder) => {
    const connection = open(join(folder, "p.db"), { generation: 256 });
    const { db, driver } = connection;
    await db.write(() => takeFirst(connection, 2 * 256 - 1), 1, "late");
    for (let name = 0; name < 256; name++) {
      await db.write(fail, 1, "late").catch(() => {});
      await db.write(() => take(connection, [name + 5_000, "x"], 0), 1, "late");
    }
    expect(count(driver, "key_names")).toBeGreaterThanOrEqual(256);
    await db.close();
  }));

test("after a start each of thousands of keys is a repeat, though the index has none of them yet", () =>
  inFolder(async (folder) => {
    const connection = open(join(folder, "p.db"));
    const { db, driver } = connection;
    const first = { ...connection, keys: createIdempotencyKeys(db) };
    const names = Array.from({ length: 10_000 }, (_, name) => name);
    await db.write(() => names.map((name) => take(first, [name, `answer ${name}`], 0)));
    expect(count(driver, "key_names")).toBe(0);
    const { find } = createIdempotencyKeys(db);
    for (const name of names)
      expect(find({ scope: "s", key: `key ${name}`, now: 1 })?.body).toBe(`answer ${name}`);
    await db.close();
  }));

test("a key whose transaction was broken off leaves nothing that another connection's key is taken for", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const memory = createLockMemory();
    const [one, other] = [open(path, { memory }), open(path, { memory })];
    const broken = one.db.write(() => {
      take(one, [1, "never stored"], 0);
      throw new StoreUnavailable("the disk is full");
    });
    expect(await broken.catch(String)).toContain("the disk is full");
    await other.db.write(() => take(other, [2, "stored"], 0));
    expect(one.keys.find({ scope: "s", key: "key 2", now: 1 })?.body).toBe("stored");
    expect(one.keys.find({ scope: "s", key: "key 1", now: 1 })).toBeUndefined();
    await one.db.close();
    await other.db.close();
  }));

test("keys that were taken before their names had an index of their own are repeats", () =>
  inFolder(async (folder) => {
    const connection = open(join(folder, "p.db"));
    const { db, driver, keys } = connection;
    for (let name = 0; name < 5; name++) await db.write(() => take(connection, [name, `first ${name}`], 0));
    driver.exec("DROP TABLE key_names; DELETE FROM meta WHERE name = 'key_names_to'");
    driver.exec(keysInOrder);
    expect(count(driver, "key_names")).toBe(5);
    const found = (each: IdempotencyKeys) => each.find({ scope: "s", key: "key 3", now: 1 })?.body;
    expect(found(createIdempotencyKeys(db, GENERATION))).toBe("first 3");
    expect(await db.write(() => take(connection, [5, "sixth"], 1))).toBeUndefined();
    expect(driver.prepare("SELECT max(number) AS last FROM idempotency_keys").get()).toEqual({ last: 6 });
    expect(found(keys)).toBe("first 3");
    await db.close();
  }));

function fail(): never {
  throw new Error("a bug");
}
