import type { Connector } from "../../../core/records/accounts.ts";
import type { Gateway } from "./gateway.ts";
import { type HttpConfig, type HttpSecret, readHttpConfig } from "./http-config.ts";
import type { Provider } from "./provider.ts";
import type { ProviderName } from "./provider-names.ts";
import { gupshup } from "./providers/gupshup.ts";
import { infobip } from "./providers/infobip.ts";
import { kannel } from "./providers/kannel.ts";
import { msg91 } from "./providers/msg91.ts";
import { plivo } from "./providers/plivo.ts";
import { twilio } from "./providers/twilio.ts";
import { vonage } from "./providers/vonage.ts";

const PROVIDERS: Readonly<Record<Exclude<ProviderName, "custom">, Provider>> = {
  gupshup,
  infobip,
  kannel,
  msg91,
  plivo,
  twilio,
  vonage,
};

/** What a connector works by. */
export interface Described {
  readonly config: HttpConfig;
  readonly gateway: Gateway;
}

/** An error, in words, where the configuration does not fit its schema, or describes nothing. */
export function readDescribed(connector: Connector): Described | Error {
  const config = readHttpConfig(connector);
  if (config instanceof Error) return config;
  const gateway = gatewayOf(config, connector.secrets);
  return gateway ? { config, gateway } : new Error(`the connector ${connector.name} describes no gateway`);
}

/** The description that a connector works by; `undefined` for `custom` without one. */
export function gatewayOf(config: HttpConfig, secrets: Connector["secrets"]): Gateway | undefined {
  if (config.provider === "custom") return config.gateway;
  const provider = PROVIDERS[config.provider];
  return provider.describe({
    baseUrl: config.base_url ?? provider.baseUrl ?? "",
    config,
    hasSecret: (name) => secrets[name] !== undefined,
  });
}

/** Settings and secrets that the provider needs and that are not set: an error for each, by field. */
export function missingSettings(
  config: HttpConfig,
  secrets: Connector["secrets"],
): Readonly<Record<string, string>> {
  const provider = config.provider === "custom" ? CUSTOM : PROVIDERS[config.provider];
  const needed = provider.needs.filter((name) => config[name] === undefined);
  const secret = provider.needsSecrets.filter((name: HttpSecret) => !secrets[name]);
  return Object.fromEntries([...needed, ...secret].map((name) => [name, `required by ${config.provider}`]));
}

const CUSTOM: Pick<Provider, "needs" | "needsSecrets"> = { needs: ["gateway"], needsSecrets: [] };
