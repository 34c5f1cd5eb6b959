import { Resolver } from "node:dns/promises";
import type { AdminDeps } from "../api/admin/admin-deps.ts";
import { readSetting } from "../core/settings.ts";
import type { Records } from "../store/store.ts";

type Dns = Pick<AdminDeps, "resolveTxt" | "resolveMx" | "resolveCname">;

/** Asks the resolvers that the instance's `dns_servers` names at that moment, or the machine's own. */
export function createDns(records: Pick<Records, "settings">): Dns {
  const resolver = async () => {
    const servers = readSetting(await records.settings(undefined), "dns_servers");
    const made = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers) made.setServers(servers.split(","));
    return made;
  };
  return {
    resolveTxt: async (name) => (await resolver()).resolveTxt(name),
    resolveMx: async (name) => (await resolver()).resolveMx(name),
    resolveCname: async (name) => (await resolver()).resolveCname(name),
  };
}
