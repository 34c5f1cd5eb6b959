/**
 * A commit waits for a standby that gets nothing any more, and is ended while it waits. What it stored can then be seen on the
 * primary, which has it alone: a 202 for it would be lost with that server.
 */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { ownProcessOnPair } from "../one-process.ts";
import type { PostgresPair } from "../postgres-pair.ts";
import { until } from "../until.ts";

/** A service on a pair of servers, to which nothing but requests writes. */
async function openWorld() {
  const own = await ownProcessOnPair();
  // PostgreSQL tells of a commit that only the primary has by a warning.
  await onPrimary(own.pair, "ALTER DATABASE postgres SET client_min_messages = error");
  const { url, sandbox } = await own.start({ args: ["--roles", "api"] });
  const authorization = { Authorization: `Bearer ${sandbox.api_key}` };
  let isOpen = true;
  return {
    ...own,
    async send(key: string, more: Readonly<Record<string, string>> = {}) {
      const response = await fetch(`${url}/v1/sms/messages`, {
        method: "POST",
        headers: { ...authorization, "Content-Type": "application/json", "Idempotency-Key": key },
        body: JSON.stringify({ to: "+14155551901", dlt_template_id: "1107160000000000001", ...more }),
      });
      const { message_id } = (await response.json()) as { message_id?: string };
      const isReplay = response.headers.get("idempotent-replayed") === "true";
      return { status: response.status, id: message_id, isReplay };
    },
    async listed(): Promise<readonly string[]> {
      const response = await fetch(`${url}/v1/sms/messages`, { headers: authorization });
      const { data } = (await response.json()) as { data: { message_id: string }[] };
      return data.map(({ message_id }) => message_id);
    },
    /** Resolves with the transactions whose commits wait for the standby, once they are as awaited or nobody needs to know. */
    commitsWaiting: (isSo: (all: readonly Waiting[]) => boolean) =>
      until(
        () => (isOpen ? onPrimary(own.pair, WAITING).catch(() => []) : []),
        (all) => !isOpen || isSo(all),
      ),
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await own[Symbol.asyncDispose]();
    },
  };
}

/** What ends the wait of a server process; all three leave the transaction committed. */
const ENDINGS: Readonly<Record<string, (pair: PostgresPair, pid: number) => unknown>> = {
  "it is cancelled": (pair, pid) => onPrimary(pair, "SELECT pg_cancel_backend($1)", [pid]),
  "its session is terminated": (pair, pid) => onPrimary(pair, "SELECT pg_terminate_backend($1)", [pid]),
  "its process crashes": (_, pid) => process.kill(pid, "SIGKILL"),
};

test.concurrent.each(Object.keys(ENDINGS))(
  "where a commit waits for a standby and %s, what the primary has alone is not answered 202",
  async (ending) => {
    await using world = await openWorld();
    const { pair, send, listed, commitsWaiting } = world;
    const before = await send("before");
    expect(before.status).toBe(202);
    await pair.detachStandby();
    const sent = send("key");
    const [commit] = await commitsWaiting((all) => all.length > 0);
    await ENDINGS[ending]!(pair, commit!.pid);
    // The answer, or that it waits for the standby too.
    const waits = commitsWaiting((all) => all.some(({ at }) => at !== commit!.at));
    await Promise.race([sent, waits]);
    await pair.killPrimary();
    await pair.promote();

    expect((await sent).status).toBe(503);
    const again = await until(
      () => send("key"),
      ({ status }) => status !== 503,
    );
    expect([again.status, again.isReplay]).toEqual([202, false]);
    expect(await listed()).toEqual([again.id, before.id].map(String));
  },
  120_000,
);

test.concurrent("what the primary has alone is not given as the answer to a repeat, where the body would be refused by now", async () => {
  await using world = await openWorld();
  const { pair, send, commitsWaiting } = world;
  expect((await send("before")).status).toBe(202);
  await pair.detachStandby();
  const dueMs = Date.now() + 5_000;
  const body = { schedule_at: new Date(dueMs).toISOString() };
  const sent = send("key", body);
  const [commit] = await commitsWaiting((all) => all.length > 0);
  await onPrimary(pair, "SELECT pg_cancel_backend($1)", [commit!.pid]);
  // It is told that the outcome is unknown.
  expect((await sent).status).toBe(503);
  expect(Date.now()).toBeGreaterThan(dueMs);
  const before = new Set((await commitsWaiting(() => true)).map(({ at }) => at));
  const again = send("key", body);
  await Promise.race([again, commitsWaiting((all) => all.some(({ at }) => !before.has(at)))]);
  await pair.killPrimary();
  await pair.promote();
  expect((await again).status).toBe(503);
}, 120_000);

interface Waiting {
  readonly pid: number;
  /** When its transaction began. */
  readonly at: string;
}

const WAITING =
  "SELECT pid, xact_start::text AS at FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'postrider'";

async function onPrimary(pair: PostgresPair, sql: string, values: unknown[] = []): Promise<Waiting[]> {
  const client = new Client({ connectionString: pair.primaryUrl() });
  // A server that crashes ends this session too.
  client.on("error", () => undefined);
  await client.connect();
  return client
    .query<Waiting>(sql, values)
    .then(({ rows }) => rows)
    .finally(() => client.end().catch(() => undefined));
}
