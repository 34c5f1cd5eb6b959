/**
 * Two processes of ours behind a real PgBouncer, in each way that docs/postgresql.md names: what both accept is delivered, once,
 * also where PgBouncer is killed under load, and a repeat at the other process is the same message.
 *
 *   bun bench/pgbouncer.ts [messages] [pgbouncer]
 *
 * Needs `apt-get install pgbouncer`, or the path of one. Ends with 1 where something does not hold.
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
const PGBOUNCER = process.argv[3] ?? "pgbouncer";
const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };
/** As docs/postgresql.md tells an operator to give them to the role. */
const ROLE_SETTINGS = {
  synchronous_commit: "on",
  statement_timeout: "'10s'",
  lock_timeout: "'10s'",
  idle_in_transaction_session_timeout: "'10s'",
  default_transaction_isolation: "'read committed'",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  cpu_index_tuple_cost: "10",
  plan_cache_mode: "force_generic_plan",
};

const PASSED_ON =
  "ignore_startup_parameters = options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout";

interface Way {
  readonly mode: "transaction" | "session";
  readonly connections: number;
  /** Whether DATABASE_URL ends with it; otherwise PgBouncer passes on prepared statements. */
  readonly query: "?prepare=false" | "";
}

const WAYS: readonly Way[] = [
  { mode: "transaction", connections: 5, query: "?prepare=false" },
  { mode: "transaction", connections: 2, query: "?prepare=false" },
  { mode: "session", connections: 24, query: "?prepare=false" },
  { mode: "session", connections: 24, query: "" },
  ...(passesOnInTransactions() ? [{ mode: "transaction", connections: 5, query: "" } as const] : []),
];

if (!Bun.which(PGBOUNCER)) {
  console.log("NOT run: pgbouncer is not installed (Debian: apt-get install pgbouncer)");
  process.exit(1);
}
let failures = 0;
for (const way of WAYS) await tryWay(way);
process.exit(failures === 0 ? 0 : 1);

/** From 1.21 on. */
function passesOnInTransactions(): boolean {
  if (!Bun.which(PGBOUNCER)) return false;
  const said = Bun.spawnSync([PGBOUNCER, "--version"]).stdout.toString();
  return Number(/PgBouncer 1\.(\d+)/.exec(said)?.[1]) >= 21;
}

interface Ground {
  readonly services: readonly [PostriderProcess, PostriderProcess];
  readonly direct: Client;
  readonly pooler: Pooler;
}

async function tryWay(way: Way): Promise<void> {
  const { mode, connections, query } = way;
  console.log(
    heading(`Behind PgBouncer, pool_mode = ${mode}, ${connections} connections for 2 processes ${query}`),
  );
  const database = await freshDatabase();
  const direct = new Client({ connectionString: database.url });
  await direct.connect();
  for (const [name, value] of Object.entries(ROLE_SETTINGS))
    await direct.query(`ALTER ROLE postrider SET ${name} = ${value}`);
  const folder = makeDataFolder();
  const pooler = await openPooler(way, database.url, folder.path);
  const first = await startPostrider({ dataFolder: join(folder.path, "a"), databaseUrl: pooler.url });
  const second = await startPostrider({
    dataFolder: join(folder.path, "b"),
    databaseUrl: pooler.url,
    sandbox: first.sandbox,
  });
  try {
    await run({ services: [first, second], direct, pooler }, connections);
  } finally {
    for (const service of [first, second]) service.kill("SIGTERM");
    await Promise.all([first.exited, second.exited]);
    pooler.stop();
    await direct.end();
    folder.remove();
  }
}

async function run(ground: Ground, connections: number): Promise<void> {
  const { services, direct } = ground;
  const [one, other] = await Promise.all(services.map(give));
  check(`${whole(one ?? 0)} and ${whole(other ?? 0)} accepted in a second`, true);
  await settled(ground);
  check("every message is delivered, once", ...(await areDelivered(direct, 2 * MESSAGES)));
  const accepted = await whileKilled(ground);
  await settled(ground);
  const all = 2 * MESSAGES + accepted;
  check(`so are ${whole(accepted)} during which PgBouncer was killed`, ...(await areDelivered(direct, all)));
  const again = await Promise.all(services.map(repeat));
  check("a repeat at the other process is the same message", again[0] === again[1], again.join(", "));
  const served = await direct.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  const { count } = served.rows[0];
  check(`the server has ${connections} sessions at most`, count <= connections, `${count}`);
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

/** Kills PgBouncer three times while both processes get requests; resolves with how many they have accepted. */
async function whileKilled({ services, pooler }: Ground): Promise<number> {
  let isOver = false;
  let accepted = 0;
  const client = async (service: PostriderProcess, name: number) => {
    for (let n = 0; !isOver; n++) while (!(await isAccepted(service, `${name}-${n}`))) await Bun.sleep(100);
  };
  const isAccepted = async (service: PostriderProcess, key: string) => {
    const { status } = await request(service, key);
    if (status === 202) accepted++;
    return status === 202;
  };
  const clients = Array.from({ length: 16 }, (_, name) =>
    client(services[name % 2] as PostriderProcess, name),
  );
  for (let kills = 0; kills < 3; kills++) {
    await Bun.sleep(2_000);
    await pooler.restart();
  }
  await Bun.sleep(2_000);
  isOver = true;
  await Promise.all(clients);
  return accepted;
}

function request(service: PostriderProcess, key: string): Promise<Response> {
  return fetch(service.url + PATH, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${service.sandbox.api_key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify(SMS),
  });
}

/** When the last message offered has reached its end nothing is open before it but what is on its way. */
async function settled({ services: [first, second], direct }: Ground): Promise<void> {
  const { api_key: apiKey } = first.sandbox;
  const { body } = await send(first, { apiKey, path: PATH, body: SMS });
  await reached(second, { apiKey, path: `${PATH}/${body.message_id}` }, "delivered");
  await direct.query("DELETE FROM messages WHERE id = $1", [body.message_id]);
  await direct.query("DELETE FROM timeline WHERE message_id = $1", [body.message_id]);
  for (;;) {
    const open = await direct.query("SELECT 1 FROM messages WHERE status <> 'delivered' LIMIT 1");
    if (open.rows.length === 0) return;
    await Bun.sleep(100);
  }
}

/** Whether so many messages are there, and were sent once; and what is there. */
async function areDelivered(direct: Client, messages: number): Promise<[boolean, string]> {
  const { rows } = await direct.query(`SELECT
    (SELECT count(*)::int FROM messages WHERE status = 'delivered') AS delivered,
    (SELECT count(*)::int FROM timeline WHERE kind = 'attempt' AND status = 'sent') AS sent`);
  const { delivered, sent } = rows[0];
  return [delivered === messages && sent === messages, `${delivered} delivered, sent ${sent} times`];
}

async function repeat(service: PostriderProcess): Promise<string> {
  const response = await request(service, "the same");
  return String(((await response.json()) as { message_id?: string }).message_id);
}

interface Pooler {
  readonly url: string;
  /** Kills it, and starts it again a moment later. */
  restart(): Promise<void>;
  stop(): void;
}

async function openPooler(way: Way, databaseUrl: string, folder: string): Promise<Pooler> {
  const [port = 0] = await freePorts(1);
  const { hostname, pathname } = new URL(databaseUrl);
  const [host, name] = [decodeURIComponent(hostname), pathname.slice(1)];
  const own = join(folder, "pooler");
  mkdirSync(own);
  // PgBouncer does not run as root.
  for (const path of [folder, own]) chmodSync(path, 0o777);
  const file = join(own, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `${name} = host=${host} dbname=${name} user=postrider`,
    "[pgbouncer]",
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    `pool_mode = ${way.mode}`,
    `default_pool_size = ${way.connections}`,
    ...(way.query === "" ? [PASSED_ON] : []),
    "max_client_conn = 100",
    "log_connections = 0",
    "log_disconnections = 0",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const asRoot = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const start = async () => {
    const child = Bun.spawn([PGBOUNCER, "-q", ...asRoot, file], { stdout: "ignore", stderr: "ignore" });
    await reachable(port);
    return child;
  };
  let child = await start();
  return {
    url: `postgres://postrider@127.0.0.1:${port}/${name}${way.query}`,
    async restart() {
      child.kill("SIGKILL");
      await child.exited;
      await Bun.sleep(500);
      child = await start();
    },
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
