/** One step of accepting an SMS, as a server; see `accept-steps.ts`. Prints its URL and a key. */
import { Database } from "bun:sqlite";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { createApp } from "../src/api/app.ts";
import type { AppDeps } from "../src/api/app-deps.ts";
import { createSystemClock } from "../src/cli/system-clock.ts";
import type { AcceptRequest } from "../src/core/messages/accept-request.ts";
import { apiKeyPrefix, makeApiKey } from "../src/core/records/api-key.ts";
import { createIds } from "../src/core/uuid.ts";
import { openSqlite } from "../src/store/sqlite/open-sqlite.ts";
import { createVault } from "../src/store/vault.ts";

const [step = "", folder = ""] = process.argv.slice(2);
const clock = createSystemClock();
const ids = createIds(clock, randomBytes);
const store = await openSqlite({
  path: join(folder, "store.db"),
  vault: createVault({ masterKey: "m".repeat(40), randomBytes }),
});
const accountId = ids();
const key = makeApiKey(randomBytes);
const createdAt = clock.now();
await store.records.create("accounts", { id: accountId, name: "bench", mode: "sandbox", createdAt });
const digest = createHash("sha256").update(key).digest("hex");
await store.records.create("apiKeys", { id: ids(), accountId, prefix: apiKeyPrefix(key), digest, createdAt });

type Fetch = (request: Request) => Response | Promise<Response>;

const STEPS: Readonly<Record<string, () => Fetch>> = {
  bare: () => withoutChecks(() => undefined),
  row: () => withoutChecks(rowAtOnce()),
  store: () => withoutChecks((id, to, text) => store.intake.accept(ready(id, to, text))),
  door: () => door({ ...store.intake, accept: async () => ({ kind: "accepted" }) }),
  log: () => door({ ...store.intake, accept: asOneRow() }),
  whole: () => door(store.intake),
};

const fetch = STEPS[step]?.();
if (!fetch) throw new Error(`one of: ${Object.keys(STEPS).join(", ")}`);
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
console.log(`http://127.0.0.1:${server.port} ${key}`);

type Keep = (id: string, to: string, text: string) => unknown;

/** Parses the body, keeps it, and answers the same JSON as the bare server. */
function withoutChecks(keep: Keep): Fetch {
  return async (request) => {
    const text = await request.text();
    const { to } = JSON.parse(text) as { to: string };
    const id = ids();
    await keep(id, to, text);
    const answer = { message_id: id, status: "queued", to, created_at: new Date().toISOString() };
    return Response.json(answer, { status: 202 });
  };
}

/** The least that is durable: a row of one table for each request, many in a statement and a commit. */
function rowAtOnce(): Keep {
  const db = new Database(join(folder, "rows.db"));
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = FULL");
  db.run("CREATE TABLE accepted (id TEXT PRIMARY KEY, recipient TEXT, body TEXT) STRICT, WITHOUT ROWID");
  const statements = [16, 1].map((rows) => ({
    rows,
    insert: db.prepare(`INSERT INTO accepted VALUES ${Array(rows).fill("(?, ?, ?)").join(", ")}`),
  }));
  let group: { readonly row: [string, string, string]; readonly done: () => void }[] = [];
  const commit = () => {
    const all = group;
    group = [];
    db.run("BEGIN IMMEDIATE");
    let at = 0;
    for (const { rows, insert } of statements)
      for (; at + rows <= all.length; at += rows)
        insert.run(...all.slice(at, at + rows).flatMap(({ row }) => row));
    db.run("COMMIT");
    for (const { done } of all) done();
  };
  const inTurns = (turns: number) => setImmediate(turns > 1 ? () => inTurns(turns - 1) : commit);
  // Three turns bring most of 64 connections together.
  return (...row) =>
    new Promise<void>((done) => {
      if (group.push({ row, done }) === 1) inTurns(3);
    });
}

/** A log of requests that is filed nowhere: no store behind our door can be cheaper. */
function asOneRow(): AppDeps["store"]["intake"]["accept"] {
  const keep = rowAtOnce();
  return async (request) => {
    const [{ id, recipient } = { id: "", recipient: "" }] = request.messages;
    await keep(id, recipient, JSON.stringify(request));
    return { kind: "accepted" };
  };
}

/** What our door makes of the request that the benchmark sends. */
function ready(id: string, recipient: string, text: string): AcceptRequest {
  const { dlt_template_id: dltTemplateId, dlt_entity_id: dltEntityId, variables } = JSON.parse(text);
  const expiresAt = Date.now() + 86_400_000;
  return {
    accountId,
    flow: "single",
    content: { channel: "sms", dltTemplateId, dltEntityId, variables },
    messages: [{ id, recipient, status: "queued", parts: [], expiresAt, jobs: [{ queue: "sandbox:sms" }] }],
  };
}

function door(intake: AppDeps["store"]["intake"]): Fetch {
  const app = createApp({
    store: { ...store, intake },
    clock,
    ids,
    log: {
      isDebug: () => false,
      debug: () => undefined,
      warn: () => undefined,
      error: (...all) => console.error(...all),
    },
    adminEndpoints: [],
    metrics: async () => "",
    readiness: async () => [],
    docsAsset: async () => undefined,
    version: "0",
    baseUrl: "http://127.0.0.1",
    isLeaving: () => false,
    isDraining: () => false,
    onRequest: () => undefined,
  });
  return (request) => app.fetch(request, () => "");
}
