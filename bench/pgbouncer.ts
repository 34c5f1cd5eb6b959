/**
 * Two processes of ours behind Debian's PgBouncer, which gives each transaction another connection: what both accept
 * is delivered, once, and a repeat at the other process is the same message.
 *
 *   bun bench/pgbouncer.ts [messages]
 *
 * Needs `apt-get install pgbouncer`. Ends with 1 where something does not hold.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { reached, send } from "../test/admin.ts";
import { freshDatabase } from "../test/postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { httpRequest, offer } from "./offer.ts";
import { freePorts, reachable } from "./ports.ts";
import { heading, whole } from "./report.ts";

const MESSAGES = Number(process.argv[2] ?? 2_000);
const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };
/** As docs/postgresql.md tells an operator to give them to the role. */
const ROLE_SETTINGS = {
  synchronous_commit: "on",
  statement_timeout: "'10s'",
  lock_timeout: "'10s'",
  idle_in_transaction_session_timeout: "'10s'",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  cpu_index_tuple_cost: "10",
};

console.log(heading("Behind PgBouncer, pool_mode = transaction, 5 connections for 2 processes"));
if (!Bun.which("pgbouncer")) {
  console.log("NOT run: pgbouncer is not installed (Debian: apt-get install pgbouncer)");
  process.exit(1);
}
const database = await freshDatabase();
const direct = new Client({ connectionString: database.url });
await direct.connect();
for (const [name, value] of Object.entries(ROLE_SETTINGS))
  await direct.query(`ALTER ROLE postrider SET ${name} = ${value}`);
const folder = makeDataFolder();
const pooler = await startPooler();
let failures = 0;
const first = await startPostrider({ dataFolder: join(folder.path, "a"), databaseUrl: pooler.url });
const second = await startPostrider({
  dataFolder: join(folder.path, "b"),
  databaseUrl: pooler.url,
  sandbox: first.sandbox,
});
try {
  await run();
} finally {
  for (const service of [first, second]) service.kill("SIGTERM");
  await Promise.all([first.exited, second.exited]);
  pooler.stop();
  await direct.end();
  folder.remove();
}
process.exit(failures === 0 ? 0 : 1);

async function run(): Promise<void> {
  const [one, other] = await Promise.all([give(first), give(second)]);
  check(`${whole(one)} and ${whole(other)} accepted in a second`, true);
  await settled();
  const counts = await countByStatus();
  check("every message is delivered, once", counts.get("delivered") === 2 * MESSAGES, shown(counts));
  const again = await Promise.all([first, second].map((service) => repeat(service)));
  check("a repeat at the other process is the same message", again[0] === again[1], again.join(", "));
  const served = await direct.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name LIKE 'postrider%' OR usename = 'postrider'",
  );
  check("the server has seen few connections", served.rows[0].count < 10, `${served.rows[0].count}`);
}

/** Requests a second. */
async function give(service: PostriderProcess): Promise<number> {
  const { api_key: key } = service.sandbox;
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const { startedAt, endedAt } = await offer({
    port: Number(new URL(service.url).port),
    requests: MESSAGES,
    connections: 16,
    request: httpRequest(`POST ${PATH}`, headers, JSON.stringify(SMS)),
  });
  return (MESSAGES * 1_000) / (endedAt - startedAt);
}

/** When the last message offered has reached its end nothing is open before it but what is on its way. */
async function settled(): Promise<void> {
  const { api_key: apiKey } = first.sandbox;
  const { body } = await send(first, { apiKey, path: PATH, body: SMS });
  await reached(second, { apiKey, path: `${PATH}/${body.message_id}` }, "delivered");
  await direct.query("DELETE FROM messages WHERE id = $1", [body.message_id]);
  for (;;) {
    const open = await direct.query("SELECT 1 FROM messages WHERE status <> 'delivered' LIMIT 1");
    if (open.rows.length === 0) return;
    await Bun.sleep(100);
  }
}

async function countByStatus(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await direct.query("SELECT status, count(*)::int AS count FROM messages GROUP BY status");
  return new Map(rows.map(({ status, count }) => [status, count]));
}

async function repeat(service: PostriderProcess): Promise<string> {
  const response = await fetch(service.url + PATH, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${first.sandbox.api_key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": "the same",
    },
    body: JSON.stringify(SMS),
  });
  return String(((await response.json()) as { message_id?: string }).message_id);
}

async function startPooler(): Promise<{ url: string; stop(): void }> {
  const [port = 0] = await freePorts(1);
  const { hostname, pathname } = new URL(database.url);
  const [host, name] = [decodeURIComponent(hostname), pathname.slice(1)];
  const own = join(folder.path, "pooler");
  mkdirSync(own);
  // PgBouncer does not run as root.
  for (const path of [folder.path, own]) chmodSync(path, 0o777);
  const file = join(own, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `${name} = host=${host} dbname=${name} user=postrider`,
    "[pgbouncer]",
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 5",
    "max_client_conn = 100",
    "log_connections = 0",
    "log_disconnections = 0",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const asRoot = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = Bun.spawn(["pgbouncer", "-q", ...asRoot, file], { stdout: "inherit", stderr: "inherit" });
  await reachable(port);
  return {
    url: `postgres://postrider@127.0.0.1:${port}/${name}?prepare=false`,
    stop() {
      child.kill();
      rmSync(own, { recursive: true, force: true });
    },
  };
}

function check(what: string, holds: boolean, found = ""): void {
  if (!holds) failures++;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}${holds || !found ? "" : `: ${found}`}`);
}

function shown(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
}
