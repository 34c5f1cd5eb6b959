/** Fills days with copies of one message that the store has made, by SQL: with all that hangs on it. */
import { uuidTime } from "../../src/core/uuid.ts";
import type { Driver, Session, SqlValue } from "../../src/store/postgres/database/driver.ts";
import { attach, type DailyTable, dayOf, tableOf } from "../../src/store/postgres/retention/days.ts";
import { accept, claim, clock, type Ground, receive, settlementOf } from "./store-ground.ts";

const DAY_MS = 86_400_000;
const DAYS = 7;

/** What differs from the copied row, by column; `g.id` is the new message's, `g.n` counts up over all. */
const DAILY: Readonly<Record<DailyTable, Copied>> = {
  contents: { key: "id", set: { id: "g.id", last_message_id: "g.id" } },
  messages: {
    key: "id",
    set: { id: "g.id", content: "g.id", recipient: "'+91' || (9000000000 + g.n % 900000000)" },
  },
  timeline: { key: "message_id", set: { message_id: "g.id", at: "t.at - $1::bigint + g.ms" } },
  events: { key: "subject_id", set: { subject_id: "g.id", number: "g.n * 10 + t.number" } },
};

const PROVIDER_IDS: Copied = {
  key: "message_id",
  set: { message_id: "g.id", id_key: "upper(g.id::text)" },
};

interface Copied {
  /** Column with the id of the message. */
  readonly key: string;
  readonly set: Readonly<Record<string, string>>;
}

/** Of the last day only: keys do not live longer. Their names are in no order, but written in order they come quickly. */
const KEYS = `INSERT INTO idempotency_keys
  SELECT gen_random_uuid(), k.body_digest, k.status, k.body, k.taken_at, k.expires_at
  FROM (SELECT * FROM idempotency_keys LIMIT 1) AS k, generate_series(1, $1::bigint) ORDER BY 1`;

/** The tables of its days. */
export async function prepareHistory({ store }: Ground): Promise<void> {
  for (let day = 0; day <= DAYS; day++) await store.retention.prepareDays(clock.now() - day * DAY_MS);
}

/** Messages of the seven days that end now, as many on each. In a database that is kept what is there stays. */
export async function loadHistory(ground: Ground, count: number): Promise<void> {
  if (count === 0) return;
  const { driver } = ground;
  await prepareHistory(ground);
  const sample = await sampleOf(ground);
  const end = uuidTime(sample) ?? 0;
  const [today, ...days] = Array.from({ length: DAYS + 1 }, (_, age) => dayOf(end) - age);
  const load = async (day: number) => {
    const span = spanOf(day, { end, count });
    const tables = Object.keys(DAILY) as DailyTable[];
    const names = tables.map((table) => tableOf(table, day));
    await once(driver, `day ${day}`, async (session) => {
      await session.query(NEW_IDS, [end - DAYS * DAY_MS, span.from, span.to, count]);
      for (const table of tables) await fillAside(session, table, { day, end });
      await session.query(`LOCK TABLE ${tables.join(", ")} IN ACCESS EXCLUSIVE MODE`);
      for (const table of tables) await putInPlace(session, table, day);
    });
    // What autovacuum would do at some time: not while others measure.
    await exec(driver, `VACUUM (ANALYZE) ${names.join(", ")}`);
  };
  const next = days.values();
  const loadNext = async () => {
    for (const day of next) await load(day);
  };
  // Today's first: those that are in use have to be taken away for it.
  await load(today ?? 0);
  await Promise.all([loadNext(), loadNext()]);
  await loadOthers(ground, { end, count });
  await exec(driver, "VACUUM (ANALYZE)");
}

interface Whole {
  /** Unix milliseconds. */
  readonly end: number;
  readonly count: number;
}

/** Which of the messages are of the day, the last not included. They are apart by equal steps. */
function spanOf(day: number, { end, count }: Whole): { from: number; to: number } {
  const start = end - DAYS * DAY_MS;
  const at = (time: number) =>
    Math.min(count, Math.max(0, Math.ceil(((time - start) * count) / (DAYS * DAY_MS))));
  return { from: at(day * DAY_MS), to: at((day + 1) * DAY_MS) };
}

/** One transaction, which is not repeated once it has happened, does not wait for the disk, and has the memory to itself. */
async function once(driver: Driver, what: string, work: (session: Session) => Promise<void>): Promise<void> {
  const done = await driver.query("SELECT 1 FROM history_parts WHERE name = $1", [what]);
  if (done.length > 0) return;
  await driver.hold(async (connection) => {
    await connection.exec(`BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL work_mem = '256MB';
      SET LOCAL maintenance_work_mem = '1GB'; SET LOCAL enable_seqscan = on`);
    await work(connection);
    await connection.query("INSERT INTO history_parts VALUES ($1)", [what]);
    await connection.exec("COMMIT");
  });
}

async function exec(driver: Driver, sql: string): Promise<void> {
  await driver.hold((connection) => connection.exec(sql));
}

/** `$1` is when the history begins; its messages from `$2` to before `$3` of `$4`. */
const NEW_IDS = `CREATE TEMP TABLE g ON COMMIT DROP AS SELECT n, ms,
    (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
      || lpad(to_hex(hashint8extended(n, 0) & 1152921504606846975), 15, '0'))::uuid AS id
  FROM (SELECT n, $1::bigint + n * ${DAYS * DAY_MS} / $4::bigint AS ms
    FROM generate_series($2::bigint, $3::bigint - 1) AS n) AS s`;

const aside = (table: DailyTable) => `history_${table}`;

/** Without its indexes, which are built at once when all is there. */
async function fillAside(
  session: Session,
  table: DailyTable,
  { day, end }: { day: number; end: number },
): Promise<void> {
  const name = `${aside(table)}_${day}`;
  await session.query(
    `CREATE TABLE ${name} (LIKE sample_${table} INCLUDING DEFAULTS) WITH (fillfactor = 85, autovacuum_enabled = off)`,
  );
  await copy(session, { from: `sample_${table}`, to: name, set: DAILY[table].set, values: [end] });
}

async function copy(
  session: Session,
  { from, to, set, values }: { from: string; to: string; set: Copied["set"]; values: readonly SqlValue[] },
): Promise<void> {
  const columns = await session.query<{ name: string }>(COLUMNS, [from]);
  const names = columns.map(({ name }) => name);
  const of = names.map((name) => set[name] ?? `t.${name}`);
  const used = of.some((each) => each.includes("$1")) ? values : [];
  await session.query(
    `INSERT INTO ${to} (${names.join(", ")}) SELECT ${of.join(", ")} FROM g, ${from} t`,
    used,
  );
}

const COLUMNS = `SELECT attname::text AS name FROM pg_attribute
  WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** In place of the day's table, whose rows it takes over; then it gets the indexes. */
async function putInPlace(session: Session, table: DailyTable, day: number): Promise<void> {
  const name = tableOf(table, day);
  await session.query(`INSERT INTO ${aside(table)}_${day} SELECT * FROM ${name}`);
  await session.query(`DROP TABLE ${name}`);
  await session.query(`ALTER TABLE ${aside(table)}_${day} RENAME TO ${name}`);
  await session.query(`ALTER TABLE ${name} RESET (autovacuum_enabled)`);
  await attach(session, table, day);
}

async function loadOthers({ driver }: Ground, { end, count }: Whole): Promise<void> {
  await once(driver, "provider ids", async (session) => {
    const indexes = await session.query<{ name: string; sql: string }>(INDEXES);
    await session.query("ALTER TABLE provider_ids DROP CONSTRAINT provider_ids_pkey");
    for (const { name } of indexes) await session.query(`DROP INDEX ${name}`);
    await session.query(NEW_IDS, [end - DAYS * DAY_MS, 0, count, count]);
    await copy(session, {
      from: "sample_provider_ids",
      to: "provider_ids",
      set: PROVIDER_IDS.set,
      values: [],
    });
    await session.query("ALTER TABLE provider_ids ADD PRIMARY KEY (connector_id, id_key, message_id, part)");
    for (const { sql } of indexes) await session.query(sql);
  });
  await once(driver, "keys", async (session) => {
    await session.query(KEYS, [Math.ceil(count / DAYS)]);
  });
}

const INDEXES = `SELECT indexname::text AS name, indexdef AS sql FROM pg_indexes
  WHERE tablename = 'provider_ids' AND indexname <> 'provider_ids_pkey'`;

/** The message that all are copies of, and its rows aside. */
async function sampleOf(ground: Ground): Promise<string> {
  const { driver } = ground;
  await exec(driver, "CREATE TABLE IF NOT EXISTS history_parts (name text PRIMARY KEY)");
  const there = await driver.query("SELECT 1 FROM pg_tables WHERE tablename = 'sample_messages'");
  if (there.length === 0) await setAside(driver, await makeSample(ground));
  const [row] = await driver.query<{ id: string }>("SELECT id FROM sample_messages");
  if (!row) throw new Error("the sample is gone");
  return row.id;
}

async function setAside(driver: Driver, id: string): Promise<void> {
  for (const [table, { key }] of Object.entries({ provider_ids: PROVIDER_IDS, ...DAILY }).toReversed()) {
    const [row] = await driver.query<{ count: number }>(
      `SELECT count(*) AS count FROM ${table} WHERE ${key} = $1`,
      [id],
    );
    if (!row?.count) throw new Error(`the sample has left nothing in ${table}`);
    await exec(
      driver,
      `CREATE TABLE sample_${table} (LIKE ${table} INCLUDING DEFAULTS);
        INSERT INTO sample_${table} SELECT * FROM ${table} WHERE ${key} = '${id}'`,
    );
  }
}

/** A message that has gone its whole way. */
async function makeSample(ground: Ground): Promise<string> {
  await accept(ground, 1);
  const [job] = await claim(ground.store, 1);
  if (!job) throw new Error("the sample was not claimed");
  await ground.store.queue.settle([settlementOf(job)]);
  await receive(ground, [job.messageId]);
  await ground.store.feed.numberEvents(100);
  return job.messageId;
}
