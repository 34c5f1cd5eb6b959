/**
 * Resident memory after so many emails of 2 kB and after ten times as many, on one service: goal at most 1.2 times.
 *
 *   bun bench/email-memory.ts [messages, of which a tenth comes first] [connections]
 */
import { startOurs } from "./mail-gateways.ts";
import { heading, ratio, whole } from "./report.ts";
import { residentMb } from "./spent.ts";

const MESSAGES = Number(process.argv[2] ?? 100_000);
const CONNECTIONS = Number(process.argv[3] ?? 32);
const LARGEST_GROWTH = 1.2;

console.log(heading(`Resident memory after ${whole(MESSAGES / 10)} and ${whole(MESSAGES)} emails`));
if (!Bun.which("smtp-sink", { PATH: `${process.env.PATH}:/usr/sbin` })) {
  console.log("NOT run: smtp-sink is not installed (Debian: apt-get install postfix)");
  process.exit(1);
}
const { offer, sink, service, stop } = await startOurs({});
try {
  const early = await after(MESSAGES / 10);
  const late = await after(MESSAGES - MESSAGES / 10);
  const verdict = late > early * LARGEST_GROWTH ? ` OVER ${LARGEST_GROWTH}` : "";
  console.log(`${early} MB, then ${late} MB: ${ratio(late / early)} times${verdict}`);
} finally {
  await stop();
}

async function after(messages: number): Promise<number> {
  const done = sink.expect(messages);
  await offer(messages, CONNECTIONS);
  await done;
  return residentMb(service.pid);
}
