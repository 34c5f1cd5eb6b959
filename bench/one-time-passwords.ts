/**
 * How long a one-time password takes, at a load that leaves room: single SMS arrive at random times, whatever the answers to
 * others take (an open loop), and go through SMPP to an SMSC that answers at once.
 *
 *   bun bench/one-time-passwords.ts [messages a second, joined by commas] [seconds] [sqlite | store-thread | postgres]
 */
import { send } from "../test/admin.ts";
import { freshDatabase } from "../test/postgres-database.ts";
import { type Ours, startOurs } from "./gateways.ts";
import { heading, ms, whole } from "./report.ts";
import { percentile } from "./wrk.ts";

const RATES = (process.argv[2] ?? "10,100,300").split(",").map(Number);
const SECONDS = Number(process.argv[3] ?? 10);
const STORE = process.argv[4] ?? "sqlite";
const WARM_UP = 300;

let numbers = 19_990_000_000;

const database = STORE === "postgres" ? await freshDatabase() : undefined;
console.log(heading(`One-time passwords one by one (${STORE}), Poisson arrivals, ${SECONDS} s each`));
const ours = await startOurs(
  STORE === "store-thread" ? ["--store-thread"] : [],
  database && { databaseUrl: database.url },
);
try {
  await arrive({ ours, perSecond: 100, count: WARM_UP });
  for (const perSecond of RATES) {
    const passwords = await arrive({ ours, perSecond, count: perSecond * SECONDS });
    say(
      `${whole(perSecond)} a second: request to 202`,
      passwords.map(({ answeredMs }) => answeredMs),
    );
    say(
      `${whole(perSecond)} a second: request to submit_sm`,
      passwords.map(({ submittedMs }) => submittedMs),
    );
  }
} finally {
  await ours.stop();
  await database?.drop();
}

interface Password {
  /** From the request, as `submittedMs`. */
  readonly answeredMs: number;
  readonly submittedMs: number;
}

/** Each arrives at its time, however many are under way; resolves when the last has been seen by the SMSC. */
async function arrive(load: {
  readonly ours: Ours;
  readonly perSecond: number;
  readonly count: number;
}): Promise<readonly Password[]> {
  const under: Promise<Password>[] = [];
  let at = performance.now();
  for (let n = 0; n < load.count; n++) {
    at += (-Math.log(1 - Math.random()) * 1_000) / load.perSecond;
    const early = at - performance.now();
    if (early > 0) await Bun.sleep(early);
    under.push(one(load.ours));
  }
  return Promise.all(under);
}

async function one(ours: Ours): Promise<Password> {
  const { smsc, live } = ours;
  const number = String(numbers++);
  const seen = smsc.seen(number);
  const startedAt = now();
  const body = { to: `+${number}`, template_id: live.templateId, variables: { "1": number.slice(-6) } };
  const { status } = await send(ours, { apiKey: live.apiKey, path: "/v1/sms/messages", body });
  if (status !== 202) throw new Error(`a message was answered ${status}`);
  return { answeredMs: now() - startedAt, submittedMs: (await seen) - startedAt };
}

/** Unix milliseconds with their fraction, as the SMSC counts. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function say(name: string, taken: readonly number[]): void {
  const shown = [0.5, 0.99, 1].map((part) => ms(percentile(taken, part)));
  console.log(`${name}: median ${shown[0]}, p99 ${shown[1]}, longest ${shown[2]}`);
}
