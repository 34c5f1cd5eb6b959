import { admin } from "../../test/admin.ts";
import { type FakeDns, startFakeDns } from "../../test/fakes/fake-dns.ts";
import { hooksTls } from "../../test/fakes/hooks-tls.ts";
import { type Ours, startOurs } from "../gateways.ts";
import { offer } from "../offer.ts";
import { heading, whole } from "../report.ts";
import { spentUs } from "../spent.ts";
import { type Receiver, startReceiver } from "../webhook-ground.ts";
import { between, type Counters, type Database, openDatabase } from "./database.ts";

export interface Cost {
  readonly messages: number;
  readonly connections: number;
  readonly hasWebhooks: boolean;
}

interface Rig {
  readonly database: Database;
  readonly ours: Ours;
  readonly receiver: Receiver | undefined;
}

const WARM_UP = 5_000;
const PAUSE_MS = 250;
const PATIENCE_MS = 120_000;

/** An event for `sending`, `sent` and `delivered` at the most; each is awaited by that none has come for so long. */
const QUIET_PAUSES = 8;

/**
 * What 1,000 messages cost from the request, with an idempotency key each, to `delivered` by way of an SMSC on the
 * loopback, their events numbered and their webhooks delivered, with the checkpoint behind them.
 */
export async function cost({ messages, connections, hasWebhooks }: Cost): Promise<void> {
  const hooks = hasWebhooks ? "with webhooks" : "without webhooks";
  console.log(
    heading(`PostgreSQL: the cost of ${whole(messages)} messages, ${connections} connections, ${hooks}`),
  );
  const database = await openDatabase();
  const receiver = hasWebhooks ? await startReceiver() : undefined;
  const callbackUrl = receiver && `https://a.hooks.test:${receiver.hooks}/sms`;
  const ours = await startOurs([], { databaseUrl: database.url, callbackUrl });
  const names = receiver && (await trustReceiver(ours));
  const rig = { database, ours, receiver };
  await live(rig, { count: WARM_UP, connections });
  const before = await spentOf(rig);
  await live(rig, { count: messages, connections });
  say(before, await spentOf(rig), messages);
  names?.close();
  receiver?.end();
  await ours.stop();
}

/** The receiver's name leads to this machine, and its certificate is trusted. */
async function trustReceiver(ours: Ours): Promise<FakeDns> {
  const dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
  const settings = {
    dns_servers: dns.address,
    webhook_allowed_ranges: "127.0.0.0/8",
    webhook_ca: hooksTls.ca,
  };
  for (const [name, value] of Object.entries(settings))
    await admin(ours, `/settings/${name}`, { value }, "PUT");
  return dns;
}

async function live(
  { database, ours, receiver }: Rig,
  { count, connections }: { readonly count: number; readonly connections: number },
): Promise<void> {
  const delivered = ours.smsc.expect(count);
  const request = ours.request.replace("\r\n", `\r\nIdempotency-Key: ${crypto.randomUUID()}-{n}\r\n`);
  await offer({ port: ours.port, requests: count, connections, request });
  await delivered;
  await settled(database, receiver);
  await database.driver.query("CHECKPOINT");
}

/** All events are numbered, and no webhook has come for a while. */
async function settled({ driver }: Database, receiver: Receiver | undefined): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  let last = -1;
  for (let quiet = 0; quiet < QUIET_PAUSES; ) {
    if (performance.now() > endMs) throw new Error("events and webhooks did not come to an end");
    await Bun.sleep(PAUSE_MS);
    const [waiting] = await driver.query("SELECT 1 FROM new_events LIMIT 1");
    const count = (await receiver?.count()) ?? 0;
    quiet = waiting || count !== last ? 0 : quiet + 1;
    last = count;
  }
}

interface Spent {
  readonly counters: Counters;
  readonly serviceUs: number;
  readonly webhooks: number;
  /** Octets on disk with indexes, by table. */
  readonly tables: ReadonlyMap<string, number>;
}

async function spentOf({ database, ours, receiver }: Rig): Promise<Spent> {
  const rows = await database.driver.query<{ name: string; size: number }>(SIZES);
  return {
    counters: await database.counters(),
    serviceUs: spentUs(ours.pid),
    webhooks: (await receiver?.count()) ?? 0,
    tables: new Map(rows.map(({ name, size }) => [name, size])),
  };
}

const SIZES = `SELECT regexp_replace(relname, '_[0-9]{8}$', '') AS name, sum(pg_total_relation_size(relid))::bigint AS size
  FROM pg_stat_user_tables GROUP BY 1 ORDER BY 1`;

/** The figures of `bench/scaling.ts`, a line each. */
function say(before: Spent, after: Spent, messages: number): void {
  const thousands = messages / 1_000;
  const { seconds, serverUs, wal } = between(before.counters, after.counters, thousands);
  const grown = [...after.tables].map(
    ([name, size]) => [name, size - (before.tables.get(name) ?? 0)] as const,
  );
  const disk = grown.reduce((sum, [, size]) => sum + size, 0);
  const seconds1 = (us: number) => (us / 1e6).toFixed(3);
  console.log(`of 1,000 messages, over ${seconds.toFixed(1)} s in all:`);
  console.log(
    `  processor time of the service: ${seconds1((after.serviceUs - before.serviceUs) / thousands)} s`,
  );
  console.log(`  processor time of PostgreSQL: ${seconds1(serverUs)} s`);
  console.log(`  WAL: ${whole(wal)} octets`);
  console.log(`  disk: ${whole(disk / thousands)} octets`);
  for (const [name, size] of grown.toSorted(([, one], [, other]) => other - one))
    if (size > 0) console.log(`    ${name}: ${whole(size / thousands)}`);
  if (after.webhooks > 0) console.log(`  webhooks: ${whole((after.webhooks - before.webhooks) / thousands)}`);
}
