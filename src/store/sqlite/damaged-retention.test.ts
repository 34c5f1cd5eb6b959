/** A page of a table is damaged: what is past its retention goes all the same, but for what is on that page. */
import { expect, test } from "bun:test";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderUntilTheEnd } from "../../../test/temp-folder.ts";
import { untilPassed } from "../contract/damaged-row.contract.ts";
import { HANDSET, piece } from "../contract/inbound/inbound.contract.ts";
import { createWorld, DAY, HOUR } from "../contract/world.contract.ts";
import type { Retention } from "../store.ts";
import { openDriver } from "./database/driver.ts";
import { inFolder, openWithDriver } from "./sqlite-world.contract.ts";

const ROWS = 150;

let filled: Promise<{ readonly path: string; readonly now: number }> | undefined;

/** Copies a database that is made once. Resolves with its time. */
async function copyFilled(path: string): Promise<number> {
  const whole = join(folderUntilTheEnd("postrider-filled-"), "p.db");
  filled ??= fill(whole).then((now) => ({ path: whole, now }));
  const made = await filled;
  copyFileSync(made.path, path);
  return made.now;
}

/** Fills the tables with so many rows each that they have several pages. Resolves with the time. */
async function fill(path: string): Promise<number> {
  const { store, driver } = await openWithDriver(path);
  const world = await createWorld(store);
  const { clock, key, sms, claim, settle, receive } = world;
  const accepted: Promise<unknown>[] = [];
  for (let n = 0; n < ROWS; n++) {
    const body = `answer ${n} ${"x".repeat(300)}`;
    accepted.push(sms({ idempotency: { ...key(`k${n}`), answer: { status: 202, body } } }));
  }
  for (let n = 0; n < ROWS / 3; n++)
    accepted.push(sms({ to: ["+911", "+912"], content: { metadata: { filling: "x".repeat(500) } } }));
  await Promise.all(accepted);
  const jobs = await claim(2 * ROWS);
  await Promise.all(jobs.map((job) => settle(job)));
  await Promise.all(jobs.map(({ messageId }) => receive(`p-${messageId}`)));
  await Promise.all(Array.from({ length: ROWS }, (_, n) => receive(`unknown ${n}`)));
  const text = "t".repeat(100);
  await store.inbound.receive(Array.from({ length: ROWS }, () => ({ ...piece(world), text })));
  driver.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
    INSERT INTO key_names (name, number) SELECT randomblob(16), 0 FROM n`);
  await store.close();
  return clock.now;
}

interface Place {
  readonly root: number;
  readonly isFirst?: boolean;
  readonly isLast?: boolean;
}

/** Damages the first or last page that the root of a table points to, or the one in the middle. */
function damage(path: string, { root, isFirst = false, isLast = false }: Place): void {
  const file = readFileSync(path);
  const size = file.readUInt16BE(16);
  const page = file.subarray((root - 1) * size, root * size);
  expect([INDEX_INNER, TABLE_INNER]).toContain(page[0] ?? 0);
  const cell = isFirst ? 0 : page.readUInt16BE(3) >> 1;
  const child = page.readUInt32BE(isLast ? LAST_CHILD : page.readUInt16BE(12 + 2 * cell));
  file.fill(0xff, (child - 1) * size, child * size);
  writeFileSync(path, file);
}

/** The first octet of pages that point to others (SQLite's file format, §1.6). */
const INDEX_INNER = 2;
const TABLE_INNER = 5;

/** Where such a page has the number of its last one. */
const LAST_CHILD = 8;

interface Pruned {
  readonly table: string;
  readonly run: (retention: Retention, now: number, limit: number) => Promise<number>;
  /** How many there are. A page has far less than half of them. */
  readonly rows: number;
  readonly told: RegExp;
}

const pruneMessages: Pruned["run"] = (retention, now, limit) =>
  retention.pruneMessages({ before: now, atLatest: 0, quietSince: now - DAY, limit });
const pruneInbound: Pruned["run"] = (retention, now, limit) =>
  retention.pruneInbound({ before: now, atLatest: 0, limit });
const pruneReceived: Pruned["run"] = (retention, now, limit) => retention.pruneReceived(now, limit);
const pruneKeys: Pruned["run"] = (retention, now, limit) => retention.pruneIdempotencyKeys(now, limit);

const MESSAGES = ROWS + 2 * (ROWS / 3);

const PRUNED: readonly Pruned[] = [
  { table: "messages", run: pruneMessages, rows: MESSAGES, told: /^messages behind .* up to / },
  { table: "timeline", run: pruneMessages, rows: MESSAGES, told: /^message \S+, put off / },
  { table: "inbound_messages", run: pruneInbound, rows: ROWS, told: /^message \S+, put off / },
  {
    table: "parked_receipts",
    run: pruneReceived,
    rows: ROWS,
    told: /^parked_receipts behind .* up to \d+, /,
  },
  { table: "idempotency_keys", run: pruneKeys, rows: ROWS, told: /^idempotency_keys behind .* up to \d+, / },
  { table: "key_names", run: pruneKeys, rows: ROWS, told: /^names of idempotency keys, put off / },
  {
    table: "contents",
    run: (retention, now, limit) => retention.wipeContents(now, limit),
    rows: ROWS / 3,
    told: /^contents behind .* up to \d+, put off for 3600 s: the database is damaged/,
  },
];

for (const { table, run, rows, told } of PRUNED)
  test.each([true, false])(
    `what is past its retention goes though a page of ${table} is damaged, but for what is on it (the first page: %p)`,
    (isFirst) =>
      inFolder(async (folder) => {
        const path = join(folder, "p.db");
        const now = await copyFilled(path);
        const root = await rootOf(path, table);
        damage(path, { root, isFirst });
        const { store } = await openWithDriver(path);
        let gone = 0;
        const said: string[] = [];
        for (let last = 1; last > 0; gone += last) {
          const { value, putOff } = await untilPassed(() => run(store.retention, now + 2 * DAY, 50));
          last = value;
          said.push(...putOff);
        }
        expect(said).toContainEqual(expect.stringMatching(told));
        expect(gone).toBeGreaterThanOrEqual(rows / 2);
        await store.close();
      }),
  );

for (const { table, run } of PRUNED.filter(({ table }) => table !== "contents"))
  test(`a chore rests where nothing before a damaged page of ${table} is past its retention`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "p.db");
      const now = await copyFilled(path);
      damage(path, { root: await rootOf(path, table), isFirst: false });
      const { store } = await openWithDriver(path);
      expect((await untilPassed(() => run(store.retention, now - DAY, ROWS))).value).toBe(0);
      await store.close();
    }));

test("a body is wiped once its messages are final though nothing behind a damaged page can be read", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const made = await openWithDriver(path);
    const { clock, sms } = await createWorld(made.store);
    await sms({ to: ["+911", "+912"] });
    // Others under way, so many that the index has several pages.
    const many = "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)";
    made.driver.exec(`${many} INSERT INTO contents (id, envelope, body, messages, first_message_id, last_message_id)
      SELECT i, '{}', '{}', 2, 'm' || i, 'm' || i FROM n`);
    made.driver.exec(`${many} INSERT INTO messages
      (id, account, content, channel, recipient, status, sequence, position, expires_at)
      SELECT 'm' || i, 1, i, 'sms', '', 'queued', 1, 1, 0 FROM n`);
    await made.store.close();
    damage(path, { root: await rootOf(path, "contents_to_wipe"), isLast: true });
    const { store, driver } = await openWithDriver(path);
    const wipeAll = async (now: number) => {
      for (let calls = 0; calls < 50; calls++)
        await untilPassed(() => store.retention.wipeContents(now, 500));
    };
    await wipeAll(clock.now);
    // The end of the transaction that has met the page.
    await new Promise(setImmediate);
    const left = () =>
      driver.prepare("SELECT id FROM contents NOT INDEXED WHERE body IS NOT NULL AND id = 1").all();
    expect(left()).toHaveLength(1);
    driver.exec("UPDATE messages SET status = 'delivered' WHERE content = 1");
    await wipeAll(clock.now + 2 * HOUR);
    expect(left()).toHaveLength(0);
    await store.close();
  }));

/** So many of the newest rows are on the last pages. */
const NEWEST = 20;

/** What an erasure goes through: tables, and an index that is its way through one. */
const WALKED = ["messages", "messages_of_account", "inbound_messages"];

test.each(WALKED)("what is somebody's is erased behind a damaged page of %s", (damaged) =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const now = await copyFilled(path);
    const root = await rootOf(path, damaged);
    const whole = openDriver(path);
    const newest = ["messages WHERE recipient =", "inbound_messages WHERE sender ="].map((rows) => {
      const sql = `SELECT id FROM ${rows} '${HANDSET}' ORDER BY id DESC LIMIT ${NEWEST}`;
      const ids = whole.prepare<{ id: string }>(sql).all();
      return ids.map(({ id }) => `SELECT id FROM ${rows.split(" ")[0]} WHERE id = '${id}'`);
    });
    whole.close();
    damage(path, { root });
    const { store, driver } = await openWithDriver(path);
    const asked = { id: (await createWorld(store)).id(), salt: "s", digest: "d", createdAt: now };
    await store.erasures.create({ ...asked, recipient: HANDSET });
    const advance = () => untilPassed(() => store.erasures.advance(now + HOUR, 50));
    while ((await advance()).value > 0);
    expect((await store.erasures.find(asked.id))?.passedOver).toBeGreaterThan(0);
    // What is erased makes room, and that of a page next to the damaged one cannot be given back.
    for (const rows of newest)
      expect(rows.filter((sql) => driver.prepare(sql).get() !== undefined).length).toBeLessThan(NEWEST);
    await store.close();
  }),
);

/** Walked by numbers, in stretches whose rows lie side by side. */
const NUMBERED = ["idempotency_keys", "parked_receipts"];

test.each([
  ...NUMBERED.map((table) => ({ table, isLast: false })),
  ...NUMBERED.map((table) => ({ table, isLast: true })),
])(
  "a damaged page of $table that an erasure meets is counted once, whether it is the last: $isLast",
  ({ table, isLast }) =>
    inFolder(async (folder) => {
      const path = join(folder, "p.db");
      const now = await copyFilled(path);
      damage(path, { root: await rootOf(path, table), isLast });
      const { store } = await openWithDriver(path);
      const asked = { id: (await createWorld(store)).id(), salt: "s", digest: "d", createdAt: now };
      await store.erasures.create({ ...asked, recipient: HANDSET });
      const advance = () => untilPassed(() => store.erasures.advance(now + HOUR, 50));
      while ((await advance()).value > 0);
      expect(await store.erasures.find(asked.id)).toMatchObject({ passedOver: 1 });
      await store.close();
    }),
);

async function rootOf(path: string, table: string): Promise<number> {
  const { store, driver } = await openWithDriver(path);
  const sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
  const root = driver.prepare<{ rootpage: number }>(sql).get(table)?.rootpage ?? 0;
  await store.close();
  return root;
}
