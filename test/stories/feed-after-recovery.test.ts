/** A reader of the event feed, and a database that PostgreSQL's own tools have put back to an earlier moment, as docs/backup.md says. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { reached, send } from "../admin.ts";
import { copyOf, freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

interface Page {
  readonly data: readonly { readonly type: string; readonly data: { readonly message_id: string } }[];
  readonly next: string;
}

test("misses nothing of what happens after it, with a cursor from what is gone", async () => {
  const folder = makeDataFolder();
  const original = await freshDatabase();
  const start = (databaseUrl: string) => startPostrider({ dataFolder: folder.path, databaseUrl });
  const first = await start(original.url);
  await readUntil(first, "", await sendSms(first));
  await end(first);
  const earlier = await copyOf(original);

  const later = await start(original.url);
  for (let n = 0; n < 3; n++) await sendSms(later);
  const { next } = await readUntil(later, "", await sendSms(later));
  await end(later);

  await run(earlier.url, documentedStatement());
  const restored = await start(earlier.url);
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await sendSms(restored));
  const { told } = await readUntil(restored, next, ids.at(-1) ?? "");
  expect(ids.filter((id) => !told.includes(id))).toEqual([]);
  await end(restored);
  await Promise.all([original.drop(), earlier.drop()]);
  folder.remove();
}, 120_000);

/** Indented, since it belongs to a step. */
function documentedStatement(): string {
  const page = readFileSync(join(import.meta.dir, "../../docs/backup.md"), "utf8");
  const [, sql = ""] = /^ +```sql\n(.+)\n +```$/m.exec(page) ?? [];
  return sql;
}

async function run(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  expect((await client.query(sql)).rowCount).toBe(1);
  await client.end();
}

async function end(service: PostriderProcess): Promise<void> {
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}

async function sendSms(service: PostriderProcess): Promise<string> {
  const apiKey = service.sandbox.api_key;
  const body = { to: "+919876543210", dlt_template_id: "1107160000000000001" };
  const id = String((await send(service, { apiKey, path: "/v1/sms/messages", body })).body.message_id);
  await reached(service, { apiKey, path: `/v1/sms/messages/${id}` }, "delivered");
  return id;
}

/** Reads on from the cursor until it is told that the message was delivered. */
async function readUntil(service: PostriderProcess, after: string, last: string) {
  let next = after;
  const told: string[] = [];
  const read = async () => {
    const query = new URLSearchParams({ wait: "5", ...(next !== "" && { after: next }) });
    const headers = { Authorization: `Bearer ${service.sandbox.api_key}` };
    const response = await fetch(`${service.url}/v1/events?${query}`, { headers });
    expect(response.status).toBe(200);
    const page = (await response.json()) as Page;
    next = page.next;
    told.push(...page.data.filter(({ type }) => type === "sms.delivered").map(({ data }) => data.message_id));
    return told.includes(last);
  };
  await until(read, Boolean);
  return { next, told };
}
