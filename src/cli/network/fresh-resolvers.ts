import { Resolver } from "node:dns/promises";
import type { Clock } from "../../core/clock.ts";
import { type Dns, isNoRecord } from "../../core/domains/dns.ts";

/** A server that has not answered within this time is passed over. */
const SERVER_LIMIT_MS = 2_000;

/**
 * The most hosts or addresses that a name may have; an answer with more is refused. Strangers choose the names, and an answer has
 * room for 4,000 addresses, each of which would be judged and kept. No real name has as many.
 */
const MAX_RECORDS = 100;

/** The code of the failure if an answer has more than `MAX_RECORDS`. */
export const TOO_MANY = "ETOOMANY";

/**
 * Opens a resolver for the queries about one name. Its answers have to be new, and must not affect others: queries that share a
 * resolver share more than its cache. An answer that cannot be read fails all queries under way, and after a few quick answers
 * the resolver waits only a quarter of a second for the next. A new resolver takes 65 µs.
 *
 * One thing is remembered from one resolver to the next: which server answers. A dead server that is asked first would cost each
 * name two seconds.
 */
export function createFreshResolvers(
  clock: Pick<Clock, "monotonicMs">,
): (servers: string | undefined) => Dns {
  /** How many servers, from the first on, have not answered, and are asked last. */
  let silent = 0;
  return (servers) => {
    const resolver = openResolver(servers);
    const asLast = silent;
    if (asLast > 0) askLast(resolver, asLast);
    const watch = <Answer>(answer: Promise<Answer>) => {
      const askedMs = clock.monotonicMs();
      const answered = () => {
        if (silent === asLast && clock.monotonicMs() - askedMs >= SERVER_LIMIT_MS) silent += 1;
      };
      answer.then(answered, (error) => isNoRecord(error) && answered());
      return answer;
    };
    return {
      resolveTxt: (name) => watch(resolver.resolveTxt(name)),
      resolveMx: (name) => watch(resolver.resolveMx(name)).then(refuseMany),
      resolveCname: (name) => watch(resolver.resolveCname(name)),
      resolve4: (name) => watch(resolver.resolve4(name)).then(refuseMany),
      resolve6: (name) => watch(resolver.resolve6(name)).then(refuseMany),
    };
  };
}

/** A failure like those of the resolver itself. */
function refuseMany<Records extends readonly unknown[]>(records: Records): Records {
  if (records.length <= MAX_RECORDS) return records;
  throw Object.assign(new Error(`more than ${MAX_RECORDS} records`), { code: TOO_MANY });
}

function openResolver(servers: string | undefined): Resolver {
  const made = new Resolver({ timeout: SERVER_LIMIT_MS, tries: 2 });
  if (servers !== undefined) made.setServers(servers.split(","));
  return made;
}

function askLast(resolver: Resolver, count: number): void {
  const servers = resolver.getServers();
  const first = count % servers.length;
  if (first > 0) resolver.setServers([...servers.slice(first), ...servers.slice(0, first)]);
}
