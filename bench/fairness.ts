/**
 * A backlog of batch messages, and single messages beside it: how much longer a single of another account, and of the
 * same, takes from its request to its submit_sm than with nothing queued; and resident memory while the backlog drains.
 *
 *   bun bench/fairness.ts [messages] [segments a second of the connector; 0: as fast as it goes]
 */
import { admin, send } from "../test/admin.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../test/live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { heading, ms, ratio, whole } from "./report.ts";
import { type SmscProcess, startSmsc } from "./smsc-process.ts";
import { residentMb } from "./spent.ts";
import { median } from "./wrk.ts";

const MESSAGES = Number(process.argv[2] ?? 1_000_000);
const PER_SECOND = Number(process.argv[3] ?? 0);
const BATCH = 1_000;
const SINGLES = 40;
const PAUSE_MS = 50;
const LONGEST_DELAY_MS = 250;
const LARGEST_GROWTH = 1.2;

let singles = 0;

console.log(heading(`Singles beside ${whole(MESSAGES)} batch messages, one connector`));
const folder = makeDataFolder();
const [smsc, service] = await Promise.all([startSmsc(), startPostrider({ dataFolder: folder.path })]);
try {
  await run();
} finally {
  service.kill("SIGKILL");
  await service.exited;
  smsc.stop();
  folder.remove();
}

async function run(): Promise<void> {
  const pace = PER_SECOND > 0 ? { max_per_second: PER_SECOND } : {};
  const connector = await connectSmsc(service, smsc, { window: 100, ...pace });
  const connectors = [connector];
  const crowd = await openLiveSms(service, { connectors, sharesRoute: true });
  const other = await openLiveSms(service, { connectors, sharesRoute: true });
  await isUp(connector);

  const alone = await latencies(service, smsc, other);
  await admin(service, `/connectors/${connector}`, { is_enabled: false }, "PATCH");
  await fill(service, crowd);
  const { acknowledged } = await smsc.count();
  const drained = PER_SECOND > 0 ? undefined : watchMemory(acknowledged);
  await admin(service, `/connectors/${connector}`, { is_enabled: true }, "PATCH");
  await isUp(connector);
  await progress(acknowledged, Math.min(2_000, MESSAGES / 20));

  const othersSingles = await latencies(service, smsc, other);
  const ownSingles = await latencies(service, smsc, crowd);
  const left = MESSAGES + 2 * SINGLES - ((await smsc.count()).acknowledged - acknowledged);
  say("with nothing queued", alone);
  say("another account's, beside the backlog", othersSingles, alone);
  say("its own, beside the backlog", ownSingles, alone);
  console.log(`${whole(left)} of the backlog were left when the last single had gone`);
  if (left <= 0) console.log("TOO FEW: the backlog was gone before the singles were");
  if (drained) await drained;
}

async function isUp(connector: string): Promise<void> {
  const state = async () =>
    (await admin<{ status: { state: string } }>(service, `/connectors/${connector}`)).status.state;
  while ((await state()) !== "up") await Bun.sleep(20);
}

async function fill(peer: PostriderProcess, { apiKey, templateId }: LiveSms): Promise<void> {
  for (let sent = 0; sent < MESSAGES; sent += BATCH) {
    const to = Array.from(
      { length: Math.min(BATCH, MESSAGES - sent) },
      (_, n) => `+1415${1_000_000 + sent + n}`,
    );
    const body = { to, template_id: templateId };
    const { status } = await send(peer, { apiKey, path: "/v1/sms/messages", body });
    if (status !== 202) throw new Error(`a batch was answered ${status}`);
  }
}

/** Milliseconds from a single's request to its submit_sm, one single after the other. */
async function latencies(
  peer: PostriderProcess,
  to: SmscProcess,
  { apiKey, templateId }: LiveSms,
): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < SINGLES; n++) {
    const number = String(19_990_000_000 + singles++);
    const seen = to.seen(number);
    const startedAt = performance.timeOrigin + performance.now();
    const body = { to: `+${number}`, template_id: templateId };
    const { status } = await send(peer, { apiKey, path: "/v1/sms/messages", body });
    if (status !== 202) throw new Error(`a single was answered ${status}`);
    taken.push((await seen) - startedAt);
    await Bun.sleep(PAUSE_MS);
  }
  return taken;
}

function say(name: string, taken: readonly number[], alone?: readonly number[]): void {
  const worst = Math.max(...taken);
  const more = alone ? worst - median(alone) : 0;
  const verdict = more > LONGEST_DELAY_MS ? ` OVER ${LONGEST_DELAY_MS} ms` : "";
  const delay = alone ? `, at most ${ms(more)} more than the median without${verdict}` : "";
  console.log(`${name}: median ${ms(median(taken))}, longest ${ms(worst)}${delay}`);
}

/** Resolves when so many more receipts have been acknowledged than `from`. */
async function progress(from: number, count: number): Promise<void> {
  while ((await smsc.count()).acknowledged - from < count) await Bun.sleep(100);
}

async function watchMemory(from: number): Promise<void> {
  const startedMs = performance.now();
  await progress(from, MESSAGES / 10);
  const early = residentMb(service.pid);
  await progress(from, MESSAGES);
  const late = residentMb(service.pid);
  const seconds = (performance.now() - startedMs) / 1_000;
  const growth = late / early;
  const verdict = growth > LARGEST_GROWTH ? ` OVER ${LARGEST_GROWTH}` : "";
  console.log(
    `drained at ${whole(MESSAGES / seconds)}/s; resident ${early} MB at a tenth, ${late} MB at the end: ${ratio(growth)} times${verdict}`,
  );
}
