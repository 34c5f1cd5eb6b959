import type { Clock } from "../../core/clock.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { createThreadTasks } from "../thread-tasks.ts";
import { createDomainTurns } from "./domain-turns.ts";
import { createFreshResolvers } from "./fresh-resolvers.ts";

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
 * occupies an event loop for 30 ms, although it is refused afterwards.
 */
export function createLookups({ program, clock }: LookupsOptions): Lookups {
  const thread = createThreadTasks({ program, clock, name: "lookup", work: createLookupWork(clock) });
  const inTurn = createDomainTurns(clock);
  return {
    open(servers) {
      const onThread = (question: keyof Dns) => (name: string) =>
        inTurn(name, () => thread.ask("lookUp", [servers, question, name]));
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

/** What the thread does. */
export function createLookupWork(clock: Pick<Clock, "monotonicMs">) {
  const open = createFreshResolvers(clock);
  return {
    lookUp: async (servers: string | undefined, question: keyof Dns, name: string) =>
      open(servers)[question](name),
  };
}
