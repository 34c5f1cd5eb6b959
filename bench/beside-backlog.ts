/**
 * What a client waits for an answer while the service delivers a backlog as fast as it can, beside the same service at rest; and how fast
 * the backlog goes. The sandbox, so that no SMSC is the limit.
 *
 *   bun bench/beside-backlog.ts [messages] [connections]
 */
import { makeDataFolder, type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { heading, ms, ratio, whole } from "./report.ts";
import { type Measured, measure, median, postScript, requireWrk } from "./wrk.ts";

const MESSAGES = Number(process.argv[2] ?? 150_000);
const CONNECTIONS = Number(process.argv[3] ?? 4);
const BATCH = 1_000;
const PATH = "/v1/sms/messages";
const ROUND_SECONDS = 2;
const TEMPLATE = { dlt_template_id: "1107160000000000001" };

requireWrk();
console.log(heading(`Accepting over ${CONNECTIONS} connections beside a backlog of ${whole(MESSAGES)}`));
const folder = makeDataFolder();
await fill(await startPostrider({ dataFolder: folder.path, args: ["--roles", "api"] }));
const atRest = await startPostrider({ dataFolder: folder.path, args: ["--roles", "api"] });
const resting = await rounds(atRest, (count) => count < 3);
await end(atRest);

const service = await startPostrider({ dataFolder: folder.path });
const before = await attempts(service);
const startedMs = performance.now();
const draining = await rounds(service, async () => (await attempts(service)) - before < MESSAGES * 0.8);
const rate = ((await attempts(service)) - before) / ((performance.now() - startedMs) / 1_000);
await end(service);
folder.remove();
for (const [name, of] of [
  ["p50", ({ p50Ms }: Measured) => p50Ms],
  ["p99", ({ p99Ms }: Measured) => p99Ms],
] as const) {
  const [rest, drain] = [resting, draining].map((each) => median(each.map(of))) as [number, number];
  console.log(
    `${name}: ${ms(drain)} beside the backlog, ${ms(rest)} without delivery: ratio ${ratio(drain / rest)}`,
  );
}
console.log(
  `accepted beside it: ${whole(median(draining.map(({ perSecond }) => perSecond)))}/s; attempts: ${whole(rate)}/s`,
);

async function rounds(target: PostriderProcess, isNext: (count: number) => boolean | Promise<boolean>) {
  const body = JSON.stringify({ to: "+919876543210", ...TEMPLATE });
  const script = postScript({ path: PATH, key: target.sandbox.api_key, body, idempotent: false });
  const done: Measured[] = [];
  while (await isNext(done.length))
    done.push(await measure({ url: target.url, connections: CONNECTIONS, seconds: ROUND_SECONDS, script }));
  return done;
}

async function fill(target: PostriderProcess): Promise<void> {
  for (let sent = 0; sent < MESSAGES; sent += BATCH) {
    const to = Array.from({ length: BATCH }, (_, index) => `+91${9_000_000_100 + sent + index}`);
    const response = await fetch(target.url + PATH, {
      method: "POST",
      headers: { Authorization: `Bearer ${target.sandbox.api_key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to, ...TEMPLATE }),
    });
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
  await end(target);
}

/** As the service's own metrics count them. */
async function attempts({ url }: PostriderProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = [...text.matchAll(/^postrider_attempt_outcomes_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function end(target: PostriderProcess): Promise<void> {
  target.kill("SIGTERM");
  await target.exited;
}
