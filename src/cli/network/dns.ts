import type { Clock } from "../../core/clock.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { limitedLookup } from "../../core/domains/limited-lookup.ts";
import { readSetting } from "../../core/records/settings.ts";
import { createFreshCache } from "../../core/work/fresh-cache.ts";
import type { Records } from "../../store/store.ts";
import type { OpenResolver } from "./create-lookups.ts";

/** For so long mails to one domain go by what was found for the first of them. */
const FRESH_MS = 10_000;
const MAX_KEPT = 1_000;

/** Long enough to pass over two servers that do not answer; nobody who asks is to be taken for one that stands still. */
const LOOKUP_LIMIT_MS = 5_000;

/**
 * Queries the servers in the setting `dns_servers`, read at each query, or else the machine's own. What says where mail
 * goes is kept for some seconds; that there is no such record is not, nor what somebody publishes and waits to be seen.
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
