/**
 * Accepting and claiming with 1,000,000 messages queued, beside an empty database in the same run; resident memory,
 * and the time from start to ready.
 *
 *   bun bench/backlog.ts [messages] [rounds] [seconds]
 */
import { readFileSync } from "node:fs";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { heading, ratio, whole } from "./report.ts";
import { measure, median, postScript, requireWrk } from "./wrk.ts";

const MESSAGES = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const SECONDS = Number(process.argv[4] ?? 4);
const PATH = "/v1/sms/messages";
const BATCH = 1_000;

requireWrk();
console.log(heading(`Accepting and claiming with ${whole(MESSAGES)} messages queued`));
const full = makeDataFolder();
await fill(full.path);
const empty = makeDataFolder();

await compareAccepting();
await compareDelivering();
await restart();
full.remove();
empty.remove();

/** Queued through the front door, with no delivery running. */
async function fill(dataFolder: string): Promise<void> {
  const service = await startPostrider({ dataFolder, args: ["--roles", "api"] });
  for (let sent = 0; sent < MESSAGES; sent += BATCH) {
    const to = Array.from(
      { length: BATCH },
      (_, index) => `+91${9_000_000_100 + ((sent + index) % 900_000_000)}`,
    );
    await post(service, { to, dlt_template_id: "1107160000000000001" });
  }
  await end(service);
}

async function compareAccepting(): Promise<void> {
  const services = {
    empty: await startPostrider({ dataFolder: empty.path, args: ["--roles", "api"] }),
    full: await startPostrider({ dataFolder: full.path, args: ["--roles", "api"] }),
  };
  const body = JSON.stringify({
    to: "+919876543210",
    dlt_template_id: "1107160000000000001",
    variables: { "1": "123456" },
  });
  const run = (service: PostriderProcess) =>
    measure({
      url: service.url,
      connections: 64,
      seconds: SECONDS,
      script: postScript({ path: PATH, key: service.sandbox.api_key, body, idempotent: true }),
    });
  await run(services.empty);
  await run(services.full);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const without = await run(services.empty);
    const beside = await run(services.full);
    ratios.push(beside.perSecond / without.perSecond);
  }
  console.log(
    `accepting: ratio ${ratio(median(ratios))} of an empty database; resident ${rssMb(services.full)} MB`,
  );
  await end(services.empty);
  await end(services.full);
}

/** How many singles of the sandbox are delivered in a second while the backlog waits and drains beside them. */
async function compareDelivering(): Promise<void> {
  const rates: { empty: number; full: number } = {
    empty: await drainRate(empty.path),
    full: await drainRate(full.path),
  };
  console.log(
    `claiming and delivering: ${whole(rates.full)}/s with the backlog, ${whole(rates.empty)}/s without: ratio ${ratio(rates.full / rates.empty)}`,
  );
}

/** Attempts a second over some seconds, as the service's own metrics count them. */
async function drainRate(dataFolder: string): Promise<number> {
  const service = await startPostrider({ dataFolder });
  if (dataFolder === empty.path)
    for (let n = 0; n < 200; n++)
      await post(service, { to: batchOf(n), dlt_template_id: "1107160000000000001" });
  const before = await attempts(service);
  const startedMs = performance.now();
  await Bun.sleep(SECONDS * 1_000);
  const rate = ((await attempts(service)) - before) / ((performance.now() - startedMs) / 1_000);
  console.log(`  resident ${rssMb(service)} MB`);
  await end(service);
  return rate;
}

async function restart(): Promise<void> {
  const startedMs = performance.now();
  const service = await startPostrider({ dataFolder: full.path });
  console.log(
    `ready ${whole(performance.now() - startedMs)} ms after the start of the process, with the backlog`,
  );
  await end(service);
}

async function attempts(service: PostriderProcess): Promise<number> {
  const text = await (
    await fetch(`${service.url}/metrics`, {
      headers: { Authorization: `Bearer ${service.sandbox.admin_token}` },
    })
  ).text();
  return [...text.matchAll(/^postrider_attempt_outcomes_total\{.*\} (\d+)$/gm)].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
}

function batchOf(n: number): string[] {
  return Array.from({ length: BATCH }, (_, index) => `+91${9_000_000_100 + n * BATCH + index}`);
}

async function post(service: PostriderProcess, body: unknown): Promise<void> {
  const response = await fetch(service.url + PATH, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.sandbox.api_key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

async function end(service: PostriderProcess): Promise<void> {
  service.kill("SIGKILL");
  await service.exited;
}

function rssMb(service: PostriderProcess): number {
  const status = readFileSync(`/proc/${service.pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
