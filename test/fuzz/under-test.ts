/** The whole service on a held clock, with direct access to its database. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Client } from "pg";
import { databaseOf } from "../both-stores.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";

export interface ServiceUnderTest {
  readonly service: HeldPostrider;
  /** A value that changes whenever something is stored; perhaps also when a transaction was rolled back. */
  stored(): Promise<string>;
  /** A digest of all that is stored. */
  contents(): Promise<string>;
  /** Resolves with `answer`. Lets time pass if it does not come at once: some requests wait on purpose. */
  answered<T>(answer: Promise<T>): Promise<T>;
  /** How often time had to pass for an answer. */
  waits(): number;
  close(): Promise<void>;
}

/** An answer that takes longer, in real time, waits for time to pass. */
const AT_ONCE_MS = 250;

const STEP_MS = 2_000;

/** Steps of held time: longer than any request waits on purpose. */
const LATEST_STEPS = 60;

export async function startServiceUnderTest(): Promise<ServiceUnderTest> {
  const service = await startHeldPostrider(undefined, { TRUSTED_PROXIES: "127.0.0.1" });
  const url = await databaseOf(service.dataFolder);
  const look = url === undefined ? lookIntoFile(service.dataFolder) : await lookIntoServer(url);
  let waits = 0;
  return {
    service,
    stored: look.stored,
    contents: look.contents,
    waits: () => waits,
    async answered(answer) {
      let isThere = false;
      const there = () => {
        isThere = true;
      };
      answer.then(there, there);
      await Promise.race([answer.catch(() => {}), Bun.sleep(AT_ONCE_MS)]);
      for (let step = 0; !isThere; step++) {
        if (step === LATEST_STEPS) throw new Error("no answer, however much time passed");
        waits++;
        await service.pass(STEP_MS);
        await Promise.race([answer.catch(() => {}), Bun.sleep(step)]);
      }
      return answer;
    },
    async close() {
      await look.close();
      await service.close();
    },
  };
}

interface Look extends Pick<ServiceUnderTest, "stored" | "contents"> {
  close(): Promise<void>;
}

/** SQLite's `data_version` changes with every commit of another connection. */
function lookIntoFile(dataFolder: string): Look {
  const database = new Database(join(dataFolder, "postrider.db"), { readonly: true });
  const version = database.query("PRAGMA data_version");
  const tables = database
    .query("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .values()
    .flat()
    .map(String);
  return {
    stored: async () => JSON.stringify(version.get()),
    contents: async () => tables.map((name) => Bun.hash(rowsOf(database, name))).join(),
    close: async () => database.close(),
  };
}

function rowsOf(database: Database, table: string): string {
  return JSON.stringify(database.query(`SELECT * FROM "${table}"`).values());
}

/** PostgreSQL has no such number: the rows of each table are counted, with the latest transaction that wrote one. */
async function lookIntoServer(url: string): Promise<Look> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
       AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const one = (name: string) => `SELECT '${name}', count(*), max(xmin::text::bigint) FROM ${name}`;
  const text = rows.map(({ name }) => one(name)).join(" UNION ALL ");
  const stored = async () => JSON.stringify((await client.query({ text, rowMode: "array" })).rows);
  return {
    stored,
    contents: stored,
    close: () => client.end(),
  };
}
