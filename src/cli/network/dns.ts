import { Resolver } from "node:dns/promises";
import type { Clock } from "../../core/clock.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { readSetting } from "../../core/records/settings.ts";
import type { Records } from "../../store/store.ts";

/** Resolvers may cache for up to an hour that a name does not exist; a new one has an empty cache. */
const RESOLVER_AGE_MS = 60_000;

/** A server that has not answered within this time is passed over. */
export const SERVER_LIMIT_MS = 2_000;

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

export function openResolver(servers: string | undefined): Resolver {
  const made = new Resolver({ timeout: SERVER_LIMIT_MS, tries: 2 });
  if (servers !== undefined) made.setServers(servers.split(","));
  return made;
}
