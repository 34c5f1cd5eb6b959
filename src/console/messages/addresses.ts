/** Addresses of emails, as nodes. */
import type { Child } from "../dom/dom.ts";
import { isolated, joined } from "../dom/pieces.ts";
import type { Address } from "./message.ts";

export function addressNode(address: Address): Child {
  if (typeof address === "string") return address;
  return address.name ? [isolated(address.name), ` <${address.email}>`] : address.email;
}

/** One on each line; nothing if there are none. */
export function addressLines(addresses: readonly Address[]): Child {
  return joined(addresses.map(addressNode), "\n");
}
