import type { Network } from "../../channels/network.ts";
import type { Dns } from "../../core/domains/dns.ts";
import { createAddressRules } from "../../webhooks/http/address-rules.ts";

/** Mail hosts get the same address rules as webhooks, since strangers name both. */
export function createNetwork(dns: Dns): Network {
  return {
    dns,
    addressRules: createAddressRules,
  };
}
