import type { Clock } from "../../core/clock.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { createThreadTasks } from "../thread-tasks.ts";
import { createDomainTurns } from "./domain-turns.ts";
import { createFreshResolvers } from "./fresh-resolvers.ts";
import type { FromLookupThread, LookupTask } from "./lookup-messages.ts";

/** Opens a resolver for the queries about one name; see `createFreshResolvers`. */
export type OpenResolver = (servers: string | undefined) => Dns;

export interface Lookups {
  readonly open: OpenResolver;
  stop(): Promise<void>;
}

export interface LookupsOptions {
  readonly program: URL;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
}

/**
 * Looks names up on a thread. Strangers choose the names of webhooks and mail domains, and reading an answer of 4,000 addresses
 * occupies an event loop for 30 ms, although it is refused afterwards. If no files are free for a thread, the work is done here.
 */
export function createLookups({ program, clock }: LookupsOptions): Lookups {
  const thread = createThreadTasks<LookupTask, FromLookupThread>({ program, clock, name: "lookup" });
  const here = createFreshResolvers(clock);
  const inTurn = createDomainTurns(clock);
  const ask = async (task: LookupTask) => {
    const answer = await thread.ask(task);
    if (answer.kind === "found") return answer.records;
    throw Object.assign(new Error(answer.message), { code: answer.code });
  };
  return {
    open(servers) {
      if (!thread.canAsk()) return here(servers);
      const onThread = (question: keyof Dns) => (name: string) =>
        inTurn(name, () => ask({ servers, question, name }));
      return {
        resolveTxt: onThread("resolveTxt") as Dns["resolveTxt"],
        resolveMx: onThread("resolveMx") as Dns["resolveMx"],
        resolveCname: onThread("resolveCname") as Dns["resolveCname"],
        resolve4: onThread("resolve4") as Dns["resolve4"],
        resolve6: onThread("resolve6") as Dns["resolve6"],
      };
    },
    stop: thread.stop,
  };
}
