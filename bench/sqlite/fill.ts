/**
 * Fills a database with copies of messages that the store has made, by SQL: with all that hangs on them. The columns and
 * the values are the samples'; what differs from message to message is put in their place.
 */
import { Database } from "bun:sqlite";
import { uuidTime } from "../../src/core/uuid.ts";
import { KINDS, SAMPLE } from "./samples.ts";

const DAY_MS = 86_400_000;
const DAYS = 7;
const CYCLE = 100;
const CHUNK = 100_000;

export interface Filling {
  readonly path: string;
  /** Ids of the samples, as `KINDS` has them. */
  readonly samples: readonly string[];
  readonly messages: number;
  /** Accounts with 90 % of the messages, with 9 %, with 1 %, and with 10 messages. */
  readonly accountIds: readonly string[];
  /** Unix milliseconds at which the history ends. */
  readonly end: number;
  /** The connector of most messages, whose ids count up, and one whose ids come in no order. */
  readonly connectors: readonly [string, string];
}

export function fill(filling: Filling): void {
  const db = new Database(filling.path);
  for (const pragma of [
    "journal_mode = OFF",
    "synchronous = OFF",
    "cache_size = -1500000",
    "threads = 2",
    "locking_mode = EXCLUSIVE",
  ])
    db.run(`PRAGMA ${pragma}`);
  setSamplesAside(db, filling.samples);
  const indexes = db
    .query<{ name: string; sql: string }, [string]>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL
         AND tbl_name IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(Object.keys(TABLES)));
  for (const { name } of indexes) db.run(`DROP INDEX ${name}`);
  for (let from = 0; from < filling.messages; from += CHUNK) fillChunk(db, filling, from);
  db.run(UNORDERED_IDS);
  addKeys(db, filling);
  for (const { sql } of indexes) db.run(sql);
  db.run("UPDATE sqlite_sequence SET seq = (SELECT max(number) FROM events) WHERE name = 'events'");
  for (const table of [...Object.keys(TABLES).map((name) => `sample_${name}`), "later_ids", "cycle"])
    db.run(`DROP TABLE temp.${table}`);
  db.run("PRAGMA locking_mode = NORMAL");
  db.run("PRAGMA journal_mode = WAL");
  db.close();
}

/** An expression for each column that differs; `g` is the new message, `s` the sample's row. */
const ID = "g.id";
const AT = "s.at - g.was + g.ms";
const own = (column: string) =>
  `replace(replace(replace(s.${column}, '${SAMPLE.providerId}', g.provider_id), '${SAMPLE.connectorId}', g.connector), '${SAMPLE.address}', g.address)`;

const EVENT = "g.event + s.nth";
const WEBHOOK = "g.webhook + s.nth";

interface Copied {
  /** The column with the id of the message; absent: `webhook`. */
  readonly key?: string;
  readonly set: Readonly<Record<string, string>>;
}

const TABLES: Readonly<Record<string, Copied>> = {
  messages: {
    key: "id",
    set: {
      id: ID,
      account: "g.account",
      content: "CASE s.content WHEN 0 THEN 0 ELSE g.content END",
      recipient: "CASE s.channel WHEN 'sms' THEN g.number ELSE '' END",
      parts: own("parts"),
      expires_at: "s.expires_at - g.was + g.ms",
      first_job: "g.n + 1",
      last_job: "g.n + 1",
    },
  },
  contents: {
    key: "first_message_id",
    set: { id: "g.content", envelope: own("envelope"), first_message_id: ID, last_message_id: ID },
  },
  timeline: {
    key: "message_id",
    set: {
      message_id: ID,
      at: AT,
      detail: own("detail"),
      recipient: own("recipient"),
      event: `CASE WHEN s.event IS NULL THEN NULL ELSE ${EVENT} END`,
    },
  },
  events: { key: "message_id", set: { number: EVENT, account: "g.account", message_id: ID } },
  provider_ids: {
    key: "message_id",
    set: { connector_id: "g.connector", id_key: "g.provider_id", message_id: ID },
  },
  overdue_receipts: {
    key: "message_id",
    set: {
      message_id: ID,
      connector_id: "g.connector",
      ask_at: `s.ask_at - g.was + g.ms + ${DAYS * DAY_MS}`,
    },
  },
  webhooks: {
    key: "message_id",
    set: {
      id: WEBHOOK,
      message_id: ID,
      account: "g.account",
      lane: "g.account || substr(s.lane, instr(s.lane, ' '))",
      at: AT,
    },
  },
  webhook_attempts: { set: { webhook: WEBHOOK, at: AT } },
};

/** What numbers a message's rows; of the timeline only those that are events count. */
const ORDER: Readonly<Record<string, string>> = {
  timeline: "t.event",
  events: "t.number",
  webhooks: "t.id",
  webhook_attempts: "t.webhook",
};

/** The samples leave their tables; `sample` and `nth` tell them apart. */
function setSamplesAside(db: Database, samples: readonly string[]): void {
  for (const [table, { key }] of Object.entries(TABLES)) {
    const id = key ? `t.${key}` : "(SELECT w.message_id FROM webhooks w WHERE w.id = t.webhook)";
    db.run(
      `CREATE TEMP TABLE sample_${table} AS SELECT t.*, k.key AS sample,
         row_number() OVER (PARTITION BY k.key ORDER BY ${ORDER[table] ?? "1"} NULLS LAST) - 1 AS nth
       FROM ${table} t JOIN json_each('${JSON.stringify(samples)}') k ON k.value = ${id}`,
    );
  }
  for (const table of Object.keys(TABLES)) db.run(`DELETE FROM ${table}`);
  db.run("CREATE TEMP TABLE later_ids AS SELECT * FROM provider_ids WHERE 0");
  layOutCycle(db, samples);
}

/** How the kinds follow one another, and what number each message's rows have within a hundred. */
function layOutCycle(db: Database, samples: readonly string[]): void {
  db.run(
    "CREATE TEMP TABLE cycle (pos INTEGER PRIMARY KEY, kind INTEGER, events INTEGER, contents INTEGER, webhooks INTEGER, was INTEGER)",
  );
  const insert = db.prepare("INSERT INTO cycle VALUES (?, ?, ?, ?, ?, ?)");
  const countOf = (table: string, kind: number) =>
    db.query<{ n: number }, [number]>(`SELECT count(*) AS n FROM sample_${table} WHERE sample = ?`).get(kind)
      ?.n ?? 0;
  const before = { events: 0, contents: 0, webhooks: 0 };
  let pos = 0;
  for (const [kind, { share }] of KINDS.entries()) {
    const was = uuidTime(samples[kind] ?? "") ?? 0;
    for (let i = 0; i < share; i++) {
      insert.run(pos++, kind, before.events, before.contents, before.webhooks, was);
      for (const table of NUMBERED) before[table] += countOf(table, kind);
    }
  }
  db.run("CREATE TEMP TABLE per_cycle AS SELECT ? AS events, ? AS contents, ? AS webhooks", [
    before.events,
    before.contents,
    before.webhooks,
  ]);
}

const NUMBERED = ["events", "contents", "webhooks"] as const;

/** The messages from `from`. The kinds are mixed: 37 and a hundred have no divisor in common. */
function fillChunk(db: Database, { messages, accountIds, end, connectors }: Filling, from: number): void {
  const to = Math.min(messages, from + CHUNK);
  const numberOf = db.query<{ number: number }, [string]>("SELECT number FROM accounts WHERE id = ?");
  const [big, middle, small, tiny] = accountIds.map((id) => numberOf.get(id)?.number);
  const start = end - DAYS * DAY_MS;
  db.run("BEGIN");
  db.run(
    `CREATE TEMP TABLE g AS
     WITH RECURSIVE c (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM c WHERE n + 1 < ${to}),
       m AS (SELECT n, ${start} + CAST(n * ${(DAYS * DAY_MS) / messages} AS INTEGER) AS ms, n / ${CYCLE} AS round, (n * 37) % ${CYCLE} AS pos,
         CASE WHEN n % ${Math.floor(messages / 10)} = 5 THEN ${tiny} WHEN n / ${CYCLE} % 100 < 90 THEN ${big}
           WHEN n / ${CYCLE} % 100 < 99 THEN ${middle} ELSE ${small} END AS account FROM c)
     SELECT m.n, m.ms, m.account, y.kind, y.was, m.round * p.events + y.events + 1 AS event,
       m.round * p.contents + y.contents + 1 AS content, m.round * p.webhooks + y.webhooks + 1 AS webhook,
       printf('%08x-%04x-7%03x-%04x-%012x', m.ms >> 16, m.ms & 65535, m.n >> 14 & 4095, 32768 | (m.n & 16383), random() & 281474976710655) AS id,
       '+91' || (7000000000 + (m.n * 7919) % 20000011) AS number, 'user' || ((m.n * 7919) % 2000003) || '@example.net' AS address,
       CASE m.account WHEN ${big} THEN '${connectors[0]}' ELSE '${connectors[1]}' END AS connector,
       CASE m.account WHEN ${big} THEN CAST(1000000000 + m.n AS TEXT) ELSE printf('%08X%08X', random() & 4294967295, random() & 4294967295) END AS provider_id
     FROM m JOIN cycle y USING (pos) JOIN per_cycle p`,
  );
  for (const [table, copied] of Object.entries(TABLES)) {
    if (table !== "provider_ids") copy(db, { table, copied, into: table });
    else {
      copy(db, { table, copied, into: table, only: `g.account = ${big}` });
      copy(db, { table, copied, into: "later_ids", only: `g.account <> ${big}` });
    }
  }
  db.run("DROP TABLE temp.g");
  db.run("COMMIT");
}

function copy(
  db: Database,
  { table, copied, into, only = "1" }: { table: string; copied: Copied; into: string; only?: string },
): void {
  const columns = db
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => name);
  const values = columns.map((name) => copied.set[name] ?? `s.${name}`);
  db.run(
    `INSERT INTO ${into} (${columns.join(", ")}) SELECT ${values.join(", ")}
     FROM g CROSS JOIN sample_${table} s ON s.sample = g.kind WHERE ${only} ORDER BY g.n`,
  );
}

const UNORDERED_IDS = "INSERT INTO provider_ids SELECT * FROM later_ids ORDER BY connector_id, id_key";

/** Of the last day only: keys do not live longer. One for each message, with the answer that is saved under it. */
function addKeys(db: Database, { end, messages }: Filling): void {
  const from = new Date(end - DAY_MS).getTime().toString(16).padStart(12, "0");
  db.run(
    `INSERT INTO idempotency_keys (name, body_digest, status, body, expires_at)
     SELECT randomblob(32), lower(hex(randomblob(32))), 202,
       json_object('message_id', id, 'status', 'queued', 'to', recipient, 'created_at', '2026-11-22T12:00:00.000Z'), expires_at
     FROM messages WHERE id > '${from.slice(0, 8)}-${from.slice(8)}' ORDER BY id LIMIT ${messages}`,
  );
  db.run("INSERT INTO key_names SELECT substr(name, 1, 16), number FROM idempotency_keys ORDER BY 1");
  db.run(
    "INSERT OR REPLACE INTO meta (name, value) SELECT 'key_names_to', CAST(max(number) AS TEXT) FROM idempotency_keys",
  );
}
