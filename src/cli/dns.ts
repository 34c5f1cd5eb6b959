import { Resolver } from "node:dns/promises";
import type { Dns } from "../core/dns.ts";
import { readSetting } from "../core/settings.ts";
import type { Records } from "../store/store.ts";

/** Asks the resolvers that the instance's `dns_servers` names at that moment, or the machine's own. */
export function createDns(records: Pick<Records, "settings">): Dns {
  let last: { readonly servers: string; readonly resolver: Resolver } | undefined;
  const resolver = async () => {
    const servers = readSetting(await records.settings(undefined), "dns_servers") ?? "";
    if (last?.servers !== servers) last = { servers, resolver: openResolver(servers) };
    return last.resolver;
  };
  return {
    resolveTxt: async (name) => (await resolver()).resolveTxt(name),
    resolveMx: async (name) => (await resolver()).resolveMx(name),
    resolveCname: async (name) => (await resolver()).resolveCname(name),
    resolve4: async (name) => (await resolver()).resolve4(name),
    resolve6: async (name) => (await resolver()).resolve6(name),
  };
}

/** `servers`: addresses separated by commas; empty: the machine's own resolvers. */
export function openResolver(servers: string): Resolver {
  const made = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== "") made.setServers(servers.split(","));
  return made;
}
