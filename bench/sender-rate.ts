/**
 * Many messages that wait for one sender's rate: what their waiting costs, whether the rate is used, and how long the
 * messages of another sender take meanwhile, from the request to the submit_sm.
 *
 *   bun bench/sender-rate.ts [messages] [segments a second] [sqlite | postgres]
 */

import { connectSmsc, type LiveSms, openLiveSms } from "../test/live-sms.ts";
import { freshDatabase } from "../test/postgres-database.ts";
import { startPostrider } from "../test/postrider-process.ts";
import { heading, ms, whole } from "./report.ts";
import { startSmsc } from "./smsc-process.ts";
import { residentMb, spentUs } from "./spent.ts";
import { median } from "./wrk.ts";

const WAITING = Number(process.argv[2] ?? 100_000);
const PER_SECOND = Number(process.argv[3] ?? 20);
const STORE = process.argv[4] ?? "sqlite";
const A_BATCH = 1_000;
const SINGLES = 40;
const SINGLES_APART_MS = 250;
const ROUND_MS = 10_000;
const ROUNDS = 12;

console.log(heading(`${whole(WAITING)} messages under a sender's ${PER_SECOND} segments a second, ${STORE}`));
const database = STORE === "postgres" ? await freshDatabase() : undefined;
const smsc = await startSmsc();
const service = await startPostrider({ ...(database && { databaseUrl: database.url }) });
const connector = await connectSmsc(service, smsc, { max_per_second_per_sender: PER_SECOND, window: 50 });
const crowd = await openLiveSms(service, { connectors: [connector], sharesRoute: true, from: "CROWDS" });
const other = await openLiveSms(service, { connectors: [connector], sharesRoute: true, from: "OTHERS" });

await measureOther("nothing waits");
await acceptCrowd(crowd);
let sent = await submits();
for (let round = 1; round <= ROUNDS; round++) {
  const core = await spentIn(ROUND_MS);
  const before = sent;
  sent = await submits();
  const rate = (sent - before) / (ROUND_MS / 1000);
  console.log(`${(round * ROUND_MS) / 1000} s later: ${core} of a core, ${rate.toFixed(1)} segments/s`);
}
await measureOther(`${whole(WAITING)} wait`);
service.kill("SIGKILL");
await service.exited;
smsc.stop();
await database?.drop();
process.exit(0);

async function submits(): Promise<number> {
  return (await smsc.count()).submits;
}

/** Processor time of the service over so long, as a part of one core. */
async function spentIn(milliseconds: number): Promise<string> {
  const [before, startedMs] = [spentUs(service.pid), performance.now()];
  await Bun.sleep(milliseconds);
  const part = (spentUs(service.pid) - before) / 1000 / (performance.now() - startedMs);
  return `${Math.round(part * 100)} %`;
}

async function acceptCrowd({ apiKey, templateId }: LiveSms): Promise<void> {
  const startedMs = performance.now();
  for (let first = 0; first < WAITING; first += A_BATCH) {
    const to = Array.from({ length: A_BATCH }, (_, n) => `+1${4_155_000_000 + first + n}`);
    const response = await fetch(`${service.url}/v1/sms/messages`, {
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to, template_id: templateId }),
    });
    if (response.status !== 202) throw new Error(await response.text());
    await response.arrayBuffer();
  }
  console.log(`accepted in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}

async function measureOther(what: string): Promise<void> {
  const took: number[] = [];
  for (let n = 0; n < SINGLES; n++) {
    const to = `+1999${1_000_000 + Math.floor(performance.now())}`;
    const seen = smsc.seen(to.slice(1));
    const startedMs = performance.now();
    await other.send(to);
    await seen;
    took.push(performance.now() - startedMs);
    await Bun.sleep(SINGLES_APART_MS);
  }
  const memory = `${residentMb(service.pid)} MB resident`;
  console.log(
    `another sender's, ${what}: median ${ms(median(took))}, longest ${ms(Math.max(...took))}; ${memory}`,
  );
}
