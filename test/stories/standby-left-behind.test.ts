/**
 * A commit waits for a standby that gets nothing any more, and is ended while it waits. What it stored can then be seen on the
 * primary, which has it alone: a 202 for it would be lost with that server.
 */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { oneProcessOnPair } from "../one-process.ts";

const { pair, start, service } = oneProcessOnPair();

/** Nothing but requests writes. */
const startApi = () => start({ args: ["--roles", "api"] });

/** What ends the wait of a server process; all three leave the transaction committed. */
const ENDINGS: Readonly<Record<string, (pid: number) => unknown>> = {
  "it is cancelled": (pid) => onPrimary("SELECT pg_cancel_backend($1)", [pid]),
  "its session is terminated": (pid) => onPrimary("SELECT pg_terminate_backend($1)", [pid]),
  "its process crashes": (pid) => process.kill(pid, "SIGKILL"),
};

test.each(Object.keys(ENDINGS))(
  "where a commit waits for a standby and %s, what the primary has alone is not answered 202",
  async (ending) => {
    await startApi();
    const before = await send("before");
    expect(before.status).toBe(202);
    await pair().detachStandby();
    const sent = send("key");
    const [commit] = await commitsWaiting((all) => all.length > 0);
    await ENDINGS[ending]!(commit!.pid);
    // The answer, or that it waits for the standby too.
    const waits = commitsWaiting((all) => all.some(({ at }) => at !== commit!.at));
    await Promise.race([sent, waits]);
    await pair().killPrimary();
    await pair().promote();

    expect((await sent).status).toBe(503);
    let again = await send("key");
    while (again.status === 503) again = await send("key");
    expect([again.status, again.isReplay]).toEqual([202, false]);
    expect(await listed()).toEqual([again.id, before.id].map(String));
  },
  60_000,
);

test("nor is it given as the answer to a repeat, where the body would be refused by now", async () => {
  await startApi();
  expect((await send("before")).status).toBe(202);
  await pair().detachStandby();
  const dueMs = Date.now() + 2_000;
  const body = { schedule_at: new Date(dueMs).toISOString() };
  const sent = send("key", body);
  const [commit] = await commitsWaiting((all) => all.length > 0);
  await onPrimary("SELECT pg_cancel_backend($1)", [commit!.pid]);
  // It is told that the outcome is unknown.
  expect((await sent).status).toBe(503);
  expect(Date.now()).toBeGreaterThan(dueMs);
  const before = new Set((await commitsWaiting(() => true)).map(({ at }) => at));
  const again = send("key", body);
  await Promise.race([again, commitsWaiting((all) => all.some(({ at }) => !before.has(at)))]);
  await pair().killPrimary();
  await pair().promote();
  expect((await again).status).toBe(503);
}, 60_000);

async function send(key: string, more: Readonly<Record<string, string>> = {}) {
  const { url, sandbox } = service();
  const response = await fetch(`${url}/v1/sms/messages`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${sandbox.api_key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify({ to: "+14155551901", dlt_template_id: "1107160000000000001", ...more }),
  });
  const { message_id } = (await response.json()) as { message_id?: string };
  const isReplay = response.headers.get("idempotent-replayed") === "true";
  return { status: response.status, id: message_id, isReplay };
}

async function listed(): Promise<readonly string[]> {
  const { url, sandbox } = service();
  const headers = { Authorization: `Bearer ${sandbox.api_key}` };
  const { data } = (await (await fetch(`${url}/v1/sms/messages`, { headers })).json()) as {
    data: { message_id: string }[];
  };
  return data.map(({ message_id }) => message_id);
}

interface Waiting {
  readonly pid: number;
  /** When its transaction began. */
  readonly at: string;
}

/** Resolves with the transactions whose commits wait for the standby, once they are as awaited. */
async function commitsWaiting(isSo: (all: readonly Waiting[]) => boolean): Promise<readonly Waiting[]> {
  for (;;) {
    const all = await onPrimary(
      "SELECT pid, xact_start::text AS at FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'postrider'",
    ).catch(() => []);
    if (isSo(all)) return all;
    await Bun.sleep(20);
  }
}

async function onPrimary(sql: string, values: unknown[] = []): Promise<Waiting[]> {
  const client = new Client({ connectionString: pair().primaryUrl() });
  // A server that crashes ends this session too.
  client.on("error", () => undefined);
  await client.connect();
  return client
    .query<Waiting>(sql, values)
    .then(({ rows }) => rows)
    .finally(() => client.end().catch(() => undefined));
}
