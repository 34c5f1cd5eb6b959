import type { PartRef } from "../../core/messages/outcome.ts";
import { createPartTokens, PART_TOKEN } from "./part-token.ts";

/**
 * Variable envelope return paths (VERP): bounces of each recipient of each message come back to an address of their own. The
 * address names both, so that a bounce need not be trusted to say whom it is about, and ends in a short HMAC, so that nobody can
 * forge one.
 */
export interface ReturnPaths {
  /** `b-` and 40 letters and digits, `@` and the host. The local part has 42 characters, of at most 64 (RFC 5321 §4.5.3.1.1). */
  address(of: PartRef & { readonly host: string }): string;
  /** The address to unsubscribe by mail: of the same form, but with `u-`. */
  unsubscribeAddress(of: PartRef & { readonly host: string }): string;
  /** The recipient that an address of `unsubscribeAddress` names; `undefined` if it is none of ours. Host and case do not matter. */
  readUnsubscribe(address: string): PartRef | undefined;
  /** The recipient that a return path names; `undefined` if it is none of ours. Host and case do not matter. */
  read(address: string): PartRef | undefined;
}

export function createReturnPaths(key: Uint8Array): ReturnPaths {
  const tokens = createPartTokens(key, "return path");
  const wishes = createPartTokens(key, "unsubscribe");
  return {
    address: ({ host, ...of }) => `b-${tokens.seal(of)}@${host}`,
    unsubscribeAddress: ({ host, ...of }) => `u-${wishes.seal(of)}@${host}`,
    readUnsubscribe(address) {
      const token = UNSUBSCRIBE.exec(address)?.[1];
      return token === undefined ? undefined : wishes.open(token);
    },
    read(address) {
      const token = RETURN_PATH.exec(address)?.[1];
      return token === undefined ? undefined : tokens.open(token);
    },
  };
}

const UNSUBSCRIBE = new RegExp(`^u-(${PART_TOKEN})@[^@]{1,255}$`, "i");
const RETURN_PATH = new RegExp(`^b-(${PART_TOKEN})@[^@]{1,255}$`, "i");
