/**
 * From the first HTTP request to the last final state, beside Debian's Kannel in the same run: the same number of
 * messages by the same load generator, one connector, the same SMSC, which answers at once. The end is the
 * acknowledgement of the last receipt: ours comes when `delivered` is on disk, Kannel's when it has taken the receipt.
 * Kannel keeps nothing on disk here and makes no callbacks. Rounds alternate; medians of the pairs' ratios are printed.
 *
 *   bun bench/kannel.ts [messages] [rounds] [connections] [store-thread]
 *
 * Needs `apt-get install kannel`; without it only ours is measured, and that is said.
 */

import { type Gateway, startKannel, startOurs } from "./gateways.ts";
import { offer } from "./offer.ts";
import { heading, ratio, whole } from "./report.ts";
import { median } from "./wrk.ts";

const MESSAGES = Number(process.argv[2] ?? 100_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const CONNECTIONS = Number(process.argv[4] ?? 32);
const ARGS = process.argv[5] === "store-thread" ? ["--store-thread"] : [];
const WARM_UP = 2_000;

interface Measured {
  /** Requests answered a second, while they were offered. */
  readonly accepted: number;
  /** Messages a second from the first request to the last final state. */
  readonly completed: number;
}

console.log(
  heading(`${whole(MESSAGES)} messages from the first request to the last final state, beside Kannel`),
);
const hasKannel = Boolean(Bun.which("bearerbox") && Bun.which("smsbox"));
if (!hasKannel) console.log("Kannel was not run: it is not installed (Debian: apt-get install kannel)");

const ours: Measured[] = [];
const theirs: Measured[] = [];
for (let round = 0; round < ROUNDS; round++) {
  if (hasKannel) theirs.push(await run(startKannel));
  ours.push(await run(() => startOurs(ARGS)));
}
if (hasKannel) say("Kannel", theirs);
say("Postrider", ours);
if (hasKannel) {
  const ratios = ours.map((each, round) => each.completed / (theirs[round]?.completed ?? Number.NaN));
  console.log(`ratio ${ratio(median(ratios))} (goal 2; rounds ${ratios.map(ratio).join(", ")})`);
}

async function run(start: () => Promise<Gateway>): Promise<Measured> {
  const gateway = await start();
  const { smsc, port, request } = gateway;
  const send = (requests: number) => offer({ port, requests, connections: CONNECTIONS, request });
  try {
    const warm = smsc.expect(WARM_UP);
    await send(WARM_UP);
    await warm;
    const done = smsc.expect(MESSAGES);
    const { startedAt, endedAt } = await send(MESSAGES);
    const finishedAt = await done;
    return {
      accepted: MESSAGES / ((endedAt - startedAt) / 1_000),
      completed: MESSAGES / ((finishedAt - startedAt) / 1_000),
    };
  } finally {
    await gateway.stop();
  }
}

function say(name: string, rounds: readonly Measured[]): void {
  const accepted = whole(median(rounds.map((each) => each.accepted)));
  const completed = rounds.map((each) => each.completed);
  console.log(
    `${name}: completed ${whole(median(completed))}/s (rounds ${completed.map(whole).join(", ")}), accepted ${accepted}/s meanwhile`,
  );
}
