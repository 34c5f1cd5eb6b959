/**
 * The store on PostgreSQL by itself, without the interface and the channels. The server is the one that tests bring,
 * on this machine's disk, and it waits for the disk as servers do.
 *
 *   bun bench/postgres.ts claim-settle [jobs] [jobs a claim] [claims at one time]
 */
import { randomBytes } from "node:crypto";
import { createSystemClock } from "../src/cli/system-clock.ts";
import type { ClaimedJob } from "../src/core/claimed-job.ts";
import { createIds } from "../src/core/uuid.ts";
import { openDriver } from "../src/store/postgres/driver.ts";
import { migrate } from "../src/store/postgres/migrate.ts";
import { openPostgres } from "../src/store/postgres/open-postgres.ts";
import { createVault } from "../src/store/vault.ts";
import { postgresServer } from "../test/postgres-server.ts";
import { heading, whole } from "./report.ts";
import { spentUs } from "./spent.ts";

const QUEUE = "queue-a";
const LEASE_MS = 60_000;
const PER_REQUEST = 1_000;

/** Of a server that has its memory to itself; `fsync` and its like stay as they come. */
const SERVER = { shared_buffers: "512MB", max_wal_size: "4GB" };

const clock = createSystemClock();
const [what = "claim-settle", ...given] = process.argv.slice(2);
const number = (index: number, byDefault: number) => Number(given[index] ?? byDefault);

if (what === "claim-settle")
  await claimSettle({ jobs: number(0, 100_000), perClaim: number(1, 100), claims: number(2, 4) });
else throw new Error(`${what} is none of claim-settle`);
process.exit(0);

interface ClaimSettle {
  readonly jobs: number;
  readonly perClaim: number;
  /** At one time, as from so many connectors. */
  readonly claims: number;
}

async function claimSettle({ jobs, perClaim, claims }: ClaimSettle): Promise<void> {
  console.log(
    heading(`PostgreSQL: claiming and settling ${whole(jobs)} jobs, ${claims} × ${perClaim} at a time`),
  );
  const ground = await openGround();
  await fill(ground, jobs);
  const before = await countersOf(ground);
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: claims }, () => drain(ground, perClaim)));
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const after = await countersOf(ground);
  console.log(`${whole(jobs / seconds)} jobs/s over ${seconds.toFixed(1)} s`);
  console.log(`  ${((user + system) / jobs).toFixed(0)} µs of processor time for each, on our side`);
  console.log(`  ${whole((after.wal - before.wal) / jobs)} octets of WAL for each`);
  console.log(
    `  ${((after.us - before.us) / jobs).toFixed(0)} µs of processor time for each, on the server's side`,
  );
  await ground.close();
}

type Ground = Awaited<ReturnType<typeof openGround>>;

async function openGround() {
  const prepare = async (url: string) => {
    const driver = openDriver({ url });
    await migrate(driver);
    await driver.close();
  };
  const { url } = await (await postgresServer(prepare, SERVER)).createDatabase();
  const vault = createVault({ masterKey: "a master key of some length", randomBytes });
  const store = await openPostgres({ url, vault, clock });
  const id = createIds(clock, randomBytes);
  const accountId = id();
  await store.records.create("accounts", { id: accountId, name: "a", mode: "live", createdAt: clock.now() });
  const driver = openDriver({ url, connections: 1 });
  const close = async () => {
    await driver.close();
    await store.close();
  };
  return { store, id, accountId, driver, close };
}

/** Single messages, each with a content of its own: what costs most. */
async function fill({ store, id, accountId }: Ground, count: number): Promise<void> {
  for (let done = 0; done < count; done += PER_REQUEST) {
    const requests = Array.from({ length: Math.min(PER_REQUEST, count - done) }, () => ({
      accountId,
      flow: "single" as const,
      content: { channel: "sms" as const, from: "ACME", text: "your code is 123456" },
      messages: [
        {
          id: id(),
          recipient: "+919812345678",
          status: "queued" as const,
          parts: [],
          expiresAt: clock.now() + 86_400_000,
          jobs: [{ queue: QUEUE }],
        },
      ],
    }));
    await Promise.all(requests.map((request) => store.intake.accept(request)));
  }
}

/** Claims as a connector does, and settles each on its own, as its attempts end. */
async function drain({ store }: Ground, perClaim: number): Promise<void> {
  for (;;) {
    const jobs = await store.queue.claim({
      queue: QUEUE,
      limit: perClaim,
      now: clock.now(),
      leaseMs: LEASE_MS,
    });
    if (jobs.length === 0) return;
    await Promise.all(jobs.map((job) => store.queue.settle([settlementOf(job)])));
  }
}

function settlementOf({ jobId, claim, messageId }: ClaimedJob) {
  return {
    jobId,
    claim,
    messageId,
    at: clock.now(),
    connectorId: "connector-a",
    countsAsAttempt: true,
    outcomes: [{ kind: "sent" as const, providerMessageIds: [messageId] }],
    next: { kind: "done" as const },
    keepsContent: false,
  };
}

/** Octets of WAL so far, and the processor time of the server's processes that are there now. */
async function countersOf({ driver }: Ground): Promise<{ wal: number; us: number }> {
  const [row] = await driver.query<{ wal: number }>("SELECT (pg_current_wal_lsn() - '0/0')::bigint AS wal");
  const processes = await driver.query<{ pid: number }>("SELECT pid FROM pg_stat_activity");
  return { wal: row?.wal ?? 0, us: processes.reduce((sum, { pid }) => sum + spentUs(pid), 0) };
}
