/** Fills days with copies of one message that the store has made, by SQL: with all that hangs on it. */
import { uuidTime } from "../../src/core/uuid.ts";
import { accept, claim, clock, type Ground, receive, settlementOf } from "./store-ground.ts";

const DAY_MS = 86_400_000;
const DAYS = 7;
const PER_STATEMENT = 100_000;

/** What differs from the copied row, by column; `g.id` is the new message's, `g.n` counts up over all. */
const TABLES: Readonly<
  Record<string, { readonly where: string; readonly set: Readonly<Record<string, string>> }>
> = {
  contents: { where: "id", set: { id: "g.id", last_message_id: "g.id" } },
  messages: {
    where: "id",
    set: { id: "g.id", content: "g.id", recipient: "'+91' || (9000000000 + g.n % 900000000)" },
  },
  timeline: { where: "message_id", set: { message_id: "g.id", at: "t.at - $2 + g.ms" } },
  events: { where: "subject_id", set: { subject_id: "g.id", number: "g.n * 10 + t.number" } },
  provider_ids: { where: "message_id", set: { message_id: "g.id", id_key: "upper(g.id::text)" } },
};

/** Of the last day only: keys do not live longer. */
const KEYS = `INSERT INTO idempotency_keys SELECT gen_random_uuid(), body_digest, status, body, taken_at, expires_at
  FROM idempotency_keys, generate_series(1, $1::bigint) LIMIT $1::bigint`;

/** The tables of its days. */
export async function prepareHistory({ store }: Ground): Promise<void> {
  for (let day = 0; day <= DAYS; day++) await store.upkeep.prepareDays(clock.now() - day * DAY_MS);
}

/** Messages of the seven days that end now, as many on each. */
export async function loadHistory(ground: Ground, count: number): Promise<void> {
  if (count === 0) return;
  await prepareHistory(ground);
  const sample = await makeSample(ground);
  const statements = await insertsOf(ground, sample);
  const perDay = Math.ceil(count / DAYS);
  const end = uuidTime(sample) ?? 0;
  const day = async (index: number) => {
    const from = end - (DAYS - index) * DAY_MS;
    for (let done = 0; done < perDay; done += PER_STATEMENT) {
      const size = Math.min(PER_STATEMENT, perDay - done);
      const values = [sample, end, from, done, size, perDay, index * perDay];
      for (const sql of statements) await ground.driver.query(sql, values);
    }
  };
  for (let index = 0; index < DAYS; index += 2)
    await Promise.all([day(index), ...(index + 1 < DAYS ? [day(index + 1)] : [])]);
  await ground.driver.query(KEYS, [perDay]);
  await ground.driver.hold((connection) => connection.exec("VACUUM (ANALYZE)"));
}

/** A message that has gone its whole way. */
async function makeSample(ground: Ground): Promise<string> {
  await accept(ground, 1);
  const [job] = await claim(ground.store, 1);
  if (!job) throw new Error("the sample was not claimed");
  await ground.store.queue.settle([settlementOf(job)]);
  await receive(ground, [job.messageId]);
  await ground.store.upkeep.numberEvents(clock.now(), 100);
  return job.messageId;
}

async function insertsOf({ driver }: Ground, sample: string): Promise<readonly string[]> {
  const inserts = Object.entries(TABLES).map(async ([table, { where, set }]) => {
    const columns = await driver.query<{ name: string }>(COLUMNS, [table]);
    const names = columns.map(({ name }) => name);
    const rows = await driver.query(`SELECT 1 FROM ${table} WHERE ${where} = $1`, [sample]);
    if (rows.length === 0) throw new Error(`the sample has left nothing in ${table}`);
    return `INSERT INTO ${table} (${names.join(", ")})
      SELECT ${names.map((name) => set[name] ?? `t.${name}`).join(", ")} FROM ${NEW}, ${table} t
      WHERE t.${where} = $1::uuid AND $2::bigint > 0 ORDER BY g.n`;
  });
  return Promise.all(inserts);
}

const COLUMNS = `SELECT attname::text AS name FROM pg_attribute
  WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** From `$3` on a day's span in equal steps: `$4` is how many are there, `$5` how many come, `$6` how many a day, `$7` those of days before. */
const NEW = `(SELECT n, ms, (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
      || substr(md5(n::text), 1, 15))::uuid AS id
    FROM (SELECT $7::bigint + i AS n, $3::bigint + i * ${DAY_MS} / $6::bigint AS ms
      FROM generate_series($4::bigint, $4::bigint + $5::bigint - 1) AS i) AS s) AS g`;
