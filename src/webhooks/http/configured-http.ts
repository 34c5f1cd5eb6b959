import type { Clock } from "../../core/clock.ts";
import { readSetting, type StoredSettings } from "../../core/records/settings.ts";
import { createFreshCache } from "../../core/work/fresh-cache.ts";
import type { Records } from "../../store/store.ts";
import type { Resolver } from "./find-addresses.ts";
import { createOutboundHttp, type OutboundHttp } from "./outbound-http.ts";

export interface ConfiguredHttpDeps {
  readonly records: Pick<Records, "settings">;
  readonly clock: Clock;
  /** Opens a resolver for the queries about one name. `servers`: addresses separated by commas; `undefined`: the machine's own. */
  readonly openResolver: (servers: string | undefined) => Resolver;
  /** Called when a setting cannot be used. */
  readonly onError: (error: unknown) => void;
}

/** `OutboundHttp` that follows the instance's settings, within a second. */
export function createConfiguredHttp(deps: ConfiguredHttpDeps): OutboundHttp {
  const cache = createFreshCache<OutboundHttp>({ clock: deps.clock, maxEntries: 1 });
  let current: { readonly http: OutboundHttp; readonly settings: HttpSettings } | undefined;

  const read = async () => {
    const settings = toHttpSettings(await deps.records.settings(undefined));
    if (!current || !isSame(current.settings, settings)) {
      current?.http.close();
      current = { settings, http: open(deps, settings) };
    }
    return current.http;
  };
  return {
    post: async (request) => (await cache.get("http", read)).post(request),
    close: () => current?.http.close(),
  };
}

interface HttpSettings {
  readonly allowed: string | undefined;
  readonly ca: string | undefined;
  readonly servers: string | undefined;
}

function toHttpSettings(stored: StoredSettings): HttpSettings {
  return {
    allowed: readSetting(stored, "webhook_allowed_ranges"),
    ca: readSetting(stored, "webhook_ca"),
    servers: readSetting(stored, "dns_servers"),
  };
}

function isSame(a: HttpSettings, b: HttpSettings): boolean {
  return a.allowed === b.allowed && a.ca === b.ca && a.servers === b.servers;
}

function open(deps: ConfiguredHttpDeps, { allowed, ca, servers }: HttpSettings): OutboundHttp {
  const openResolver = () => deps.openResolver(servers);
  const plain = { clock: deps.clock, openResolver, allowed: allowed?.split(",") ?? [] };
  if (ca === undefined) return createOutboundHttp(plain);
  try {
    return createOutboundHttp({ ...plain, ca });
  } catch (error) {
    // Without the certificates some deliveries fail, and say why; an exception here would fail them all.
    deps.onError(error);
    return createOutboundHttp(plain);
  }
}
