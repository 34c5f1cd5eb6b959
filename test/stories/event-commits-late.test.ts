/** One transaction is held open while another wants to commit: who follows the feed misses the events of neither. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { send } from "../admin.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const folder = makeDataFolder();
afterAll(folder.remove);

test("the cursor skips no event that commits late", async () => {
  const service = await startPostrider({ dataFolder: folder.path });
  const { account_id, api_key } = service.sandbox;
  const read = async (query: string, limitMs = 20_000): Promise<Page> => {
    const response = await fetch(`${service.url}/v1/events?${query}`, {
      headers: { Authorization: `Bearer ${api_key}` },
      signal: AbortSignal.timeout(limitMs),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Page;
  };
  const { next: start } = await read("after=now");

  const other = new Database(join(folder.path, "postrider.db"));
  other.run("PRAGMA busy_timeout = 5000");
  other.run("BEGIN IMMEDIATE");
  other.run(
    `INSERT INTO events (account, at, id, type, data)
     SELECT number, ?, 'evt_held', 'sms.received', '{"message_id":"held"}' FROM accounts WHERE id = ?`,
    [Date.now(), account_id],
  );
  expect(await read(`after=${start}`)).toEqual({ data: [], next: start });
  const sending = send(service, {
    apiKey: api_key,
    path: "/v1/sms/messages",
    body: { to: "+919876543210", dlt_template_id: "1107160000000000001" },
  });
  // Once nothing is answered any more, the service waits to commit behind the one that is held.
  const isAnswered = () =>
    read(`after=${start}`, 200).then(
      ({ data }) => data.length === 0,
      () => false,
    );
  await until(isAnswered, (isSo) => !isSo);
  other.run("COMMIT");
  other.close();
  const { status, body } = await sending;
  expect(status).toBe(202);

  const told: string[] = [];
  let cursor = start;
  const readOn = async () => {
    const page = await read(`after=${cursor}&wait=10`);
    told.push(...page.data.map(({ type, data }) => `${type} ${data.message_id}`));
    cursor = page.next;
    return told;
  };
  await until(readOn, ({ length }) => length >= 3);
  const id = String(body.message_id);
  expect(told).toEqual(["sms.received held", `sms.sent ${id}`, `sms.delivered ${id}`]);
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}, 120_000);

interface Page {
  readonly data: readonly { readonly type: string; readonly data: { readonly message_id: string } }[];
  readonly next: string;
}
