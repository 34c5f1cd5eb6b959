import { Resolver } from "node:dns/promises";
import type { Clock } from "../../core/clock.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { readSetting } from "../../core/records/settings.ts";
import type { Records } from "../../store/store.ts";

/** Resolvers may cache for up to an hour that a name does not exist; a new one has an empty cache. */
const RESOLVER_AGE_MS = 60_000;

/** Queries the servers in the setting `dns_servers`, read at each query, or else the machine's own. */
export function createDns(records: Pick<Records, "settings">, clock: Clock): Dns {
  const resolverFor = createResolvers(clock);
  const resolver = async () => resolverFor(readSetting(await records.settings(undefined), "dns_servers"));
  return {
    resolveTxt: async (name) => (await resolver()).resolveTxt(name),
    resolveMx: async (name) => (await resolver()).resolveMx(name),
    resolveCname: async (name) => (await resolver()).resolveCname(name),
    resolve4: async (name) => (await resolver()).resolve4(name),
    resolve6: async (name) => (await resolver()).resolve6(name),
  };
}

/** The resolver to ask now. `servers`: addresses separated by commas; `undefined`: the machine's own resolvers. */
function createResolvers(clock: Pick<Clock, "monotonicMs">): (servers: string | undefined) => Resolver {
  let last:
    | { readonly servers: string | undefined; readonly resolver: Resolver; readonly madeMs: number }
    | undefined;
  return (servers) => {
    const now = clock.monotonicMs();
    if (!last || last.servers !== servers || now - last.madeMs >= RESOLVER_AGE_MS) {
      last = { servers, resolver: openResolver(servers), madeMs: now };
    }
    return last.resolver;
  };
}

/**
 * For the questions about one name, whose answers must be new and nobody else's business. Questions that share a resolver
 * share more than its cache: an answer that cannot be read fails all that are under way, and after a few quick answers the
 * resolver waits only a quarter of a second for the next. A resolver costs 65 µs.
 */
export function openResolver(servers: string | undefined): Resolver {
  const made = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) made.setServers(servers.split(","));
  return made;
}
