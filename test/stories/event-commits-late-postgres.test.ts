/** One transaction is held open while another commits: who follows the feed sees the other at once, and misses neither. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Client } from "pg";
import { reached, send } from "../admin.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

let folder: ReturnType<typeof makeDataFolder>;
let database: TestDatabase;
let processes: PostriderProcess[];
let other: Client;

beforeEach(async () => {
  folder = makeDataFolder();
  database = await freshDatabase();
  const first = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url });
  const { sandbox } = first;
  processes = [first, await startPostrider({ databaseUrl: database.url, sandbox })];
  other = new Client({ connectionString: database.url });
  await other.connect();
});

afterEach(async () => {
  for (const service of processes) service.kill("SIGKILL");
  await Promise.all(processes.map(({ exited }) => exited));
  await other.end();
  folder.remove();
  await database.drop();
});

interface Page {
  readonly data: readonly { readonly type: string; readonly data: { readonly message_id: string } }[];
  readonly next: string;
}

async function read(service: PostriderProcess, query: string): Promise<Page> {
  const headers = { Authorization: `Bearer ${service.sandbox.api_key}` };
  const response = await fetch(`${service.url}/v1/events?${query}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

test("the cursor skips no event that commits late, whichever process is asked", async () => {
  const [first, second] = processes as [PostriderProcess, PostriderProcess];
  const { account_id, api_key } = first.sandbox;
  const post = async () => {
    const body = { to: "+919876543210", dlt_template_id: "1107160000000000001" };
    const answer = await send(first, { apiKey: api_key, path: "/v1/sms/messages", body });
    expect(answer.status).toBe(202);
    return String(answer.body.message_id);
  };
  const held = await post();
  await reached(first, { apiKey: api_key, path: `/v1/sms/messages/${held}` }, "delivered");
  const start = await readUntil(first, "", ["sms.sent", "sms.delivered"]);

  await other.query("BEGIN");
  // Beyond what the message may still be told, such as its receipt a second time.
  await other.query(
    `INSERT INTO timeline (message_id, position, at, kind, status, sequence, event_type)
     SELECT $1, max(position) + 10, max(at), 'status', 'delivered', 9, 'sms.held' FROM timeline WHERE message_id = $1::uuid`,
    [held],
  );
  await other.query(
    `INSERT INTO new_events (subject_id, position, account)
     SELECT $1, (SELECT max(position) FROM timeline WHERE message_id = $1::uuid), number FROM accounts WHERE id = $2`,
    [held, account_id],
  );
  const quick = await post();
  const between = await readUntil(second, start.next, [`sms.sent ${quick}`, `sms.delivered ${quick}`]);
  await other.query("COMMIT");
  await readUntil(first, between.next, [`sms.held ${held}`]);
}, 120_000);

/** Follows the feed until so many events have come, which are these; the last page. */
async function readUntil(
  service: PostriderProcess,
  after: string,
  expected: readonly string[],
): Promise<Page> {
  const told: string[] = [];
  let page: Page = { data: [], next: after };
  const readOn = async () => {
    page = await read(service, `wait=10${page.next && `&after=${page.next}`}`);
    told.push(...page.data.map(({ type, data }) => `${type} ${data.message_id}`));
    return told;
  };
  await until(readOn, ({ length }) => length >= expected.length);
  expect(told.map((each, index) => (expected[index]?.includes(" ") ? each : each.split(" ")[0]))).toEqual([
    ...expected,
  ]);
  return page;
}
