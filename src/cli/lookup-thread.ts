/** The program of the thread that looks names up; see `createLookups`. */
import { parentPort } from "node:worker_threads";
import { dnsCode } from "../core/domains/dns.ts";
import { errorText } from "../core/error-text.ts";
import { createFreshResolvers } from "./network/fresh-resolvers.ts";
import type { Found, FromLookupThread, LookupTask, ToLookupThread } from "./network/lookup-messages.ts";
import { createSystemClock } from "./system-clock.ts";

if (!parentPort) throw new Error("this program runs on a thread that the service starts");
const port = parentPort;
const open = createFreshResolvers(createSystemClock());

port.on("message", ({ id, task }: ToLookupThread) => {
  const reply = (answer: FromLookupThread) => port.postMessage(answer);
  lookUp(task).then(
    (records) => reply({ id, kind: "found", records }),
    (error) => reply({ id, kind: "failed", message: errorText(error), code: dnsCode(error) }),
  );
});

async function lookUp({ servers, question, name }: LookupTask): Promise<Found> {
  return open(servers)[question](name);
}
