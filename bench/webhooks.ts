/**
 * Webhooks: how many a second reach one healthy HTTPS receiver on this machine; how long after the change of status
 * they are sent while a thousand other hosts time out; what a million that wait cost accepting.
 *
 *   bun bench/webhooks.ts throughput [events]
 *   bun bench/webhooks.ts latency [seconds] [dead hosts] [events per second]
 *   bun bench/webhooks.ts backlog [webhooks] [rounds] [seconds]
 *
 * Events are made by the store's own use cases, without the interface and the channels before them. Names are resolved
 * in the process: what a name server takes is not in the figures.
 */
import { readFileSync } from "node:fs";
import { type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { heading, ms, ratio, whole } from "./report.ts";
import {
  accept,
  clock,
  makeEvents,
  openEngine,
  openGround,
  settleAll,
  startReceiver,
} from "./webhook-ground.ts";
import { measure, median, postScript, requireWrk } from "./wrk.ts";

const [what = "throughput", ...given] = process.argv.slice(2);
const number = (index: number, byDefault: number) => Number(given[index] ?? byDefault);

if (what === "throughput") await throughput(number(0, 60_000));
else if (what === "latency")
  await latency({ seconds: number(0, 60), dead: number(1, 1_000), rate: number(2, 200) });
else if (what === "backlog")
  await backlog({ webhooks: number(0, 1_000_000), rounds: number(1, 5), seconds: number(2, 4) });
else throw new Error(`${what} is none of throughput, latency, backlog`);
process.exit(0);

async function throughput(events: number): Promise<void> {
  console.log(heading(`${whole(events)} webhooks to one HTTPS receiver`));
  const receiver = await startReceiver();
  const ground = await openGround();
  await makeEvents(ground, { count: events, urlOf: () => `https://hooks.test:${receiver.hooks}/hook` });
  const engine = openEngine(ground.store);
  const startedMs = performance.now();
  const before = process.cpuUsage();
  engine.start();
  while ((await receiver.count()) < events) await Bun.sleep(50);
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(before);
  console.log(`${whole(events / seconds)} webhooks/s over ${seconds.toFixed(1)} s`);
  console.log(`  ${((user + system) / events).toFixed(0)} µs of processor time for each, on our side`);
  await engine.stop();
  console.log(`  at rest as delivered: ${whole(await countDelivered(ground))}`);
  await ground.close();
  ground.remove();
  receiver.end();
}

async function countDelivered({ store, accountId }: Awaited<ReturnType<typeof openGround>>): Promise<number> {
  let count = 0;
  let after: string | undefined;
  do {
    const page = { limit: 1_000, ...(after !== undefined && { after }) };
    const { events, next } = await store.outbox.list({ accountId, state: "delivered" }, page);
    count += events.length;
    after = next;
  } while (after !== undefined);
  return count;
}

interface LatencyRun {
  readonly seconds: number;
  readonly dead: number;
  /** Events a second to the healthy host. */
  readonly rate: number;
}

async function latency({ seconds, dead, rate }: LatencyRun): Promise<void> {
  console.log(heading(`${rate} webhooks a second to a healthy host while ${whole(dead)} hosts time out`));
  const receiver = await startReceiver();
  const ground = await openGround();
  const engine = openEngine(ground.store);
  engine.start();
  const run = async (label: string) => {
    await receiver.reset();
    const until = performance.now() + seconds * 1_000;
    while (performance.now() < until) {
      for (let n = 0; n < rate / 50; n++) {
        await accept(ground, 1, `https://hooks.test:${receiver.hooks}/hook`);
      }
      await settleAll(ground.store);
      await Bun.sleep(20);
    }
    await Bun.sleep(500);
    const { count, p50, p99, max } = await receiver.received();
    console.log(`${label}: ${whole(count)} received; p50 ${ms(p50)}, p99 ${ms(p99)}, longest ${ms(max)}`);
  };
  await run("none dead");
  for (let n = 0; n < dead; n++)
    await accept(ground, 10, `https://dead-${n}.hooks.test:${receiver.silent}/hook`);
  for (let n = 0; n < dead / 100; n++) await settleAll(ground.store);
  await run(`${whole(dead)} hosts time out`);
  console.log(
    `  under way ${engine.underWay()}, hosts paused ${engine.paused().length}, resident ${rssMb(process.pid)} MB`,
  );
  await engine.stop();
  await ground.close();
  ground.remove();
  receiver.end();
}

interface BacklogRun {
  readonly webhooks: number;
  readonly rounds: number;
  readonly seconds: number;
}

async function backlog({ webhooks, rounds, seconds }: BacklogRun): Promise<void> {
  requireWrk();
  console.log(heading(`Accepting with ${whole(webhooks)} webhooks waiting`));
  const full = await openGround();
  await makeEvents(full, {
    count: webhooks,
    urlOf: (batch) => `https://dead-${batch % 1_000}.hooks.test:1/hook`,
  });
  await failAll(full);
  console.log(`  waiting: ${JSON.stringify(await full.store.outbox.backlog())}`);
  await full.close();
  const empty = await openGround();
  await empty.close();

  const services = {
    empty: await startPostrider({ dataFolder: empty.dataFolder, args: ["--roles", "api,webhooks,upkeep"] }),
    full: await startPostrider({ dataFolder: full.dataFolder, args: ["--roles", "api,webhooks,upkeep"] }),
  };
  const ratios: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const without = await acceptRate(services.empty, seconds);
    const beside = await acceptRate(services.full, seconds);
    if (round === 0) continue;
    ratios.push(beside.perSecond / without.perSecond);
    costs.push(beside.cpuMicros / without.cpuMicros);
  }
  console.log(
    `accepting: ratio ${ratio(median(ratios))} of an empty outbox (${ratios.map(ratio).join(", ")})`,
  );
  console.log(`processor time of an accept: ${ratio(median(costs))} times (${costs.map(ratio).join(", ")})`);
  console.log(`resident: ${rssMb(services.full.pid)} MB, ${rssMb(services.empty.pid)} MB without`);
  for (const service of Object.values(services)) {
    service.kill("SIGKILL");
    await service.exited;
  }
  full.remove();
  empty.remove();
}

/** As after a first try, all at once; the next is far away. */
async function failAll({ store }: Awaited<ReturnType<typeof openGround>>): Promise<void> {
  for (;;) {
    const ready = await store.outbox.readyLanes({ limit: 10 });
    if (ready.length === 0) return;
    const lanes = ready.map((lane) => ({ lane, limit: 500 }));
    const claimed = await store.outbox.claim({ lanes, now: clock.now(), leaseMs: 60_000 });
    const attempt = { at: clock.now(), ms: 15_000, error: { code: "timeout", message: "no answer in time" } };
    const verdict = { kind: "again" as const, at: clock.now() + 5 * 3_600_000 };
    await store.outbox.settle(claimed.map((event) => ({ ...event, verdict, attempt })));
  }
}

interface Accepting {
  readonly perSecond: number;
  /** Of the service, for one accept: where others use the machine too, it says more than the rate. */
  readonly cpuMicros: number;
}

async function acceptRate(service: PostriderProcess, seconds: number): Promise<Accepting> {
  const body = JSON.stringify({
    to: "+919876543210",
    dlt_template_id: "1107160000000000001",
    variables: { "1": "123456" },
  });
  const script = postScript({
    path: "/v1/sms/messages",
    key: service.sandbox.api_key,
    body,
    idempotent: true,
  });
  const before = cpuSeconds(service.pid);
  const { perSecond } = await measure({ url: service.url, connections: 64, seconds, script });
  return { perSecond, cpuMicros: ((cpuSeconds(service.pid) - before) * 1e6) / (perSecond * seconds) };
}

/** User and system time, in the hundredths of a second that Linux counts (proc(5)). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function rssMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
