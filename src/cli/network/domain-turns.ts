import type { Clock } from "../../core/clock.ts";
import { dnsCode } from "../../core/domains/dns.ts";
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
 * one domain may all get theirs at once, as after a restart. More come together only where nothing is answered, of callers who have
 * given up meanwhile.
 */
const MAX_WAITING = 4_096;

/** The most domains with large answers to remember. */
const MAX_LARGE = 1_000;

interface Domain {
  running: number;
  /** How many may run at the same time. */
  room: number;
  readonly waiting: (() => void)[];
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
  const noteLarge = (key: string) => {
    largeUntilMs.delete(key);
    if (largeUntilMs.size >= MAX_LARGE) largeUntilMs.delete(largeUntilMs.keys().next().value ?? key);
    largeUntilMs.set(key, clock.monotonicMs() + LARGE_MS);
  };
  const end = (key: string, domain: Domain) => {
    domain.running--;
    while (domain.waiting.length > 0 && mayBegin(key, domain)) {
      domain.running++;
      domain.waiting.shift()?.();
    }
    if (domain.running === 0) domains.delete(key);
  };

  return async (name, ask) => {
    const key = domainOf(name);
    const domain = domains.get(key) ?? { running: 0, room: AT_FIRST, waiting: [] };
    domains.set(key, domain);
    if (mayBegin(key, domain)) domain.running++;
    else if (domain.waiting.length >= MAX_WAITING) throw tooManyWait();
    else await new Promise<void>((resolve) => domain.waiting.push(resolve));
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
