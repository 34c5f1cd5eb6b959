import type { PartRef } from "../../core/messages/outcome.ts";
import { createPartTokens, PART_TOKEN } from "./part-token.ts";

/**
 * Variable envelope return paths: the address that bounces of one recipient of one message come back to. It names
 * both, so that nothing has to be believed of what a bounce says, and ends in a short HMAC, so that nobody can make
 * one up.
 */
export interface ReturnPaths {
  /** `b-` and 40 letters and digits, `@` and the host, lower case. Its local part is 42 characters (RFC 5321: at most 64). */
  address(of: PartRef & { readonly host: string }): string;
  /** Where a recipient's wish not to be written to arrives by mail: the same with `u-`. */
  unsubscribeAddress(of: PartRef & { readonly host: string }): string;
  /** Whether it is an address of `unsubscribeAddress`. */
  isUnsubscribe(address: string): boolean;
  /** What an address stands for; `undefined` if it is none of ours. The host is not looked at, the case neither. */
  read(address: string): PartRef | undefined;
}

export function createReturnPaths(key: Uint8Array): ReturnPaths {
  const tokens = createPartTokens(key, "return path");
  const wishes = createPartTokens(key, "unsubscribe");
  return {
    address: ({ host, ...of }) => `b-${tokens.seal(of)}@${host}`,
    unsubscribeAddress: ({ host, ...of }) => `u-${wishes.seal(of)}@${host}`,
    isUnsubscribe(address) {
      const token = UNSUBSCRIBE.exec(address)?.[1];
      return token !== undefined && wishes.open(token) !== undefined;
    },
    read(address) {
      const token = RETURN_PATH.exec(address)?.[1];
      return token === undefined ? undefined : tokens.open(token);
    },
  };
}

const UNSUBSCRIBE = new RegExp(`^u-(${PART_TOKEN})@[^@]{1,255}$`, "i");
const RETURN_PATH = new RegExp(`^b-(${PART_TOKEN})@[^@]{1,255}$`, "i");
