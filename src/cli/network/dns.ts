import type { Clock } from "../../core/clock.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { limitedLookup } from "../../core/domains/limited-lookup.ts";
import { readSetting } from "../../core/records/settings.ts";
import { createFreshCache } from "../../core/work/fresh-cache.ts";
import type { Records } from "../../store/store.ts";
import type { OpenResolver } from "./create-lookups.ts";

/** How long the answers about a mail's destination are kept, for other mails to the same domain. */
const FRESH_MS = 10_000;
const MAX_KEPT = 1_000;

/** Long enough to pass over two servers that do not answer, and short enough that a loop that waits for it does not count as stalled. */
const LOOKUP_LIMIT_MS = 5_000;

/**
 * Queries the servers in the setting `dns_servers`, read at each query, or else the machine's own. Answers that say where mail
 * goes are kept for some seconds. Failures are not kept, nor are TXT and CNAME records: operators wait until they are seen.
 */
export function createDns(records: Pick<Records, "settings">, clock: Clock, open: OpenResolver): Dns {
  const answer = async <Answer>(ask: (dns: Dns) => Promise<Answer>) => {
    const dns = open(readSetting(await records.settings(undefined), "dns_servers"));
    return limitedLookup(clock, LOOKUP_LIMIT_MS, ask(dns));
  };
  const kept = <Answer>(ask: (dns: Dns, name: string) => Promise<Answer>) => {
    const cache = createFreshCache<Answer>({ clock, maxEntries: MAX_KEPT, maxAgeMs: FRESH_MS });
    return async (name: string) => cache.get(name, () => answer((dns) => ask(dns, name)));
  };
  return {
    resolveTxt: (name) => answer((dns) => dns.resolveTxt(name)),
    resolveCname: (name) => answer((dns) => dns.resolveCname(name)),
    resolveMx: kept((dns, name) => dns.resolveMx(name)),
    resolve4: kept((dns, name) => dns.resolve4(name)),
    resolve6: kept((dns, name) => dns.resolve6(name)),
  };
}
