import type { Network } from "../../channels/network.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { createAddressRules, parseRange } from "../../webhooks/http/address-rules.ts";

/** The same rules for mail hosts as for webhooks: both are named by strangers. */
export function createNetwork(dns: Dns): Network {
  return {
    dns,
    addressRules: (allowed) =>
      createAddressRules(allowed.map(parseRange).filter((range) => range !== undefined)),
  };
}
