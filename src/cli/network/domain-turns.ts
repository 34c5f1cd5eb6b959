import type { Clock } from "../../core/clock.ts";
import { dnsCode } from "../../core/domains/dns.ts";
import { remember } from "../../core/work/remember.ts";
import { TOO_MANY } from "./fresh-resolvers.ts";

/** Asks a question about a name when its turn comes. Rejects if too many wait already. */
export type DomainTurns = <Answer>(name: string, ask: () => Promise<Answer>) => Promise<Answer>;

/** How many queries at a time there may be about a domain that has not answered any yet. Each ordinary answer makes room for more. */
const AT_FIRST = 8;
const MORE = 2;
const AT_MOST = 64;

/** How long queries about a domain are made one at a time after it has given a large answer. */
const LARGE_MS = 60_000;

/**
 * The most queries that wait for one domain: two for each webhook that can be under way, since customers who each have a name below
 * one domain may all get theirs at once, as after a restart. More come together only where nothing is answered.
 */
const MAX_WAITING = 4_096;

/**
 * After this time who asked waits no more: an attempt to deliver a webhook takes 15 s at most, all else less. An attempt that has joined
 * the question since fails with it, and is tried again.
 */
const GIVEN_UP_MS = 15_000;

/** The most domains with large answers to remember. */
const MAX_LARGE = 1_000;

interface Domain {
  running: number;
  /** How many may run at the same time. */
  room: number;
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly sinceMs: number;
  readonly begin: () => void;
  readonly giveUp: (reason: Error) => void;
}

/**
 * Keeps a domain with large answers from holding up the queries about others: reading such an answer takes as long as hundreds of
 * ordinary ones. By domain, since its owner chooses all names below it.
 */
export function createDomainTurns(clock: Pick<Clock, "monotonicMs">): DomainTurns {
  const domains = new Map<string, Domain>();
  const largeUntilMs = new Map<string, number>();

  const isLarge = (key: string) => (largeUntilMs.get(key) ?? 0) > clock.monotonicMs();
  const mayBegin = (key: string, { running, room }: Domain) => running < (isLarge(key) ? 1 : room);
  const noteLarge = (key: string) => remember(largeUntilMs, [key, clock.monotonicMs() + LARGE_MS], MAX_LARGE);
  const end = (key: string, domain: Domain) => {
    domain.running--;
    const oldMs = clock.monotonicMs() - GIVEN_UP_MS;
    while (mayBegin(key, domain)) {
      const next = domain.waiting.shift();
      if (!next) break;
      // Asking for nobody would keep those waiting who came since: a silent server takes seconds for each.
      if (next.sinceMs <= oldMs) {
        next.giveUp(tooManyWait());
        continue;
      }
      domain.running++;
      next.begin();
    }
    if (domain.running === 0) domains.delete(key);
  };

  return async (name, ask) => {
    const key = domainOf(name);
    const domain = domains.get(key) ?? { running: 0, room: AT_FIRST, waiting: [] };
    domains.set(key, domain);
    if (mayBegin(key, domain)) domain.running++;
    else if (domain.waiting.length >= MAX_WAITING) throw tooManyWait();
    else await inLine(domain, clock.monotonicMs());
    try {
      const answer = await ask();
      domain.room = Math.min(AT_MOST, domain.room + MORE);
      return answer;
    } catch (error) {
      if (dnsCode(error) === TOO_MANY) noteLarge(key);
      throw error;
    } finally {
      end(key, domain);
    }
  };
}

/** Resolves when the query may be made; rejects if it was in line for so long that nobody waits for it any more. */
function inLine({ waiting }: Domain, sinceMs: number): Promise<void> {
  return new Promise((begin, giveUp) => waiting.push({ sinceMs, begin, giveUp }));
}

/** The last two labels, or three if many owners share these two: `co.uk`, `com.br`, `eu.org`. */
function domainOf(name: string): string {
  const labels = name.toLowerCase().split(".").filter(Boolean);
  const isShared = (labels.at(-2)?.length ?? 0) <= LONGEST_SHARED;
  return labels.slice(isShared ? -3 : -2).join(".");
}

const LONGEST_SHARED = 3;

function tooManyWait(): Error {
  return Object.assign(new Error("too many queries about this domain wait"), { code: "EBUSY" });
}
