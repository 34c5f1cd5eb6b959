/**
 * Email from the request to the sink having the message, 2 kB of text, over the loopback: ours from HTTP to a relay,
 * unsigned and signed with DKIM, beside Debian's Postfix from `smtp-source` through its queue, in the same run. Either
 * has what it answered yes to on disk. Rounds alternate; medians of the pairs' ratios are printed.
 *
 *   bun bench/email.ts [messages] [rounds] [connections]
 *
 * Needs `apt-get install postfix` and root; without Postfix only ours is measured, without smtp-sink nothing.
 */
import { type MailGateway, missingForPostfix, startOurs, startTheirs } from "./mail-gateways.ts";
import { heading, ratio, whole } from "./report.ts";
import { spentUs } from "./spent.ts";
import { median } from "./wrk.ts";

const MESSAGES = Number(process.argv[2] ?? 10_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const CONNECTIONS = Number(process.argv[4] ?? 32);
const WARM_UP = 1_000;
const GOAL = 1.5;

interface Measured {
  /** Messages a second, from the first request to the sink having the last. */
  readonly completed: number;
  /** Microseconds of processor time a message, of our process. */
  readonly costUs?: number;
}

console.log(heading(`${whole(MESSAGES)} emails of 2 kB from the request to the sink, beside Postfix`));
const missing = missingForPostfix();
if (missing) console.log(`Postfix was NOT run: ${missing}`);

const theirs: Measured[] = [];
const ours: Measured[] = [];
const signed: Measured[] = [];
for (let round = 0; round < ROUNDS; round++) {
  if (!missing) theirs.push(await run(startTheirs));
  ours.push(await run(() => startOurs({})));
  signed.push(await run(() => startOurs({ isSigned: true })));
}
if (!missing) say("Postfix", theirs);
say("Postrider", ours);
say("Postrider, signed (RSA-2048 and Ed25519)", signed);
if (!missing) {
  console.log(`unsigned: ${against(ours)}, goal ${GOAL}`);
  console.log(`signed: ${against(signed)}`);
}

async function run(start: () => Promise<MailGateway & { service?: { pid: number } }>): Promise<Measured> {
  const gateway = await start();
  const { sink, service } = gateway;
  try {
    const warm = sink.expect(WARM_UP);
    await gateway.offer(WARM_UP, CONNECTIONS);
    await warm;
    const before = service && spentUs(service.pid);
    const done = sink.expect(MESSAGES);
    const startedAt = await gateway.offer(MESSAGES, CONNECTIONS);
    const completed = MESSAGES / (((await done) - startedAt) / 1_000);
    if (!service || before === undefined) return { completed };
    return { completed, costUs: (spentUs(service.pid) - before) / MESSAGES };
  } finally {
    await gateway.stop();
  }
}

function say(name: string, rounds: readonly Measured[]): void {
  const completed = rounds.map((each) => each.completed);
  const costs = rounds.flatMap(({ costUs }) => costUs ?? []);
  const cost = costs.length > 0 ? `, ${whole(median(costs))} µs of processor time a message` : "";
  console.log(`${name}: ${whole(median(completed))}/s (rounds ${completed.map(whole).join(", ")})${cost}`);
}

function against(rounds: readonly Measured[]): string {
  const ratios = rounds.map((each, round) => each.completed / (theirs[round]?.completed ?? Number.NaN));
  return `ratio ${ratio(median(ratios))} (rounds ${ratios.map(ratio).join(", ")})`;
}
