/**
 * What a message costs the service in processor time (user and system, all its threads): being accepted, and its
 * whole life from the request to `delivered` by way of an SMSC on the loopback. Load generator and SMSC are other
 * processes and are not counted, and neither is waiting: so it can be compared on a machine that others use.
 *
 *   bun bench/delivery-cost.ts [messages] [rounds] [connections]
 */

import { type Gateway, startOurs } from "./gateways.ts";
import { offer } from "./offer.ts";
import { heading, whole } from "./report.ts";
import { spentUs } from "./spent.ts";
import { median } from "./wrk.ts";

const MESSAGES = Number(process.argv[2] ?? 50_000);
const ROUNDS = Number(process.argv[3] ?? 3);
const CONNECTIONS = Number(process.argv[4] ?? 32);
const WARM_UP = 20_000;

console.log(heading(`processor time a message, ${whole(MESSAGES)} messages, ${CONNECTIONS} connections`));
const accepting: number[] = [];
const living: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  accepting.push(await cost(() => startOurs(["--roles", "api"]), "accepted"));
  living.push(await cost(() => startOurs(), "delivered"));
}
say("accepting", accepting);
say("whole life", living);

async function cost(start: () => Promise<Gateway>, until: "accepted" | "delivered"): Promise<number> {
  const gateway = await start();
  const send = async (requests: number) => {
    const done = until === "delivered" ? gateway.smsc.expect(requests) : undefined;
    await offer({ port: gateway.port, requests, connections: CONNECTIONS, request: gateway.request });
    await done;
  };
  try {
    await send(WARM_UP);
    const before = spentUs(gateway.pid);
    await send(MESSAGES);
    return (spentUs(gateway.pid) - before) / MESSAGES;
  } finally {
    await gateway.stop();
  }
}

function say(what: string, rounds: readonly number[]): void {
  console.log(`${what}: ${whole(median(rounds))} µs (rounds ${rounds.map(whole).join(", ")})`);
}
