import type { PartRef } from "../../core/messages/outcome.ts";
import { createPartTokens, PART_TOKEN, type PartTokens, type TokenKeys } from "./part-token.ts";

/**
 * Addresses of one purpose, each of which names one recipient of one message, and ends in a short HMAC, so that nobody can forge
 * one.
 */
export interface PartAddresses {
  /** A letter, `-` and 40 letters and digits, `@` and the host. The local part has 42 characters, of at most 64 (RFC 5321 §4.5.3.1.1). */
  address(of: PartRef & { readonly host: string }): string;
  /** The recipient that an address names; `undefined` if it is none of these. Host and case do not matter. */
  read(address: string): PartRef | undefined;
}

/**
 * Variable envelope return paths (VERP): bounces of each recipient of each message come back to an address of their own, so that a
 * bounce need not be trusted to say whom it is about.
 */
export function createReturnPaths(...keys: TokenKeys): PartAddresses {
  return createPartAddresses("b", createPartTokens("return path", keys));
}

/** Where a recipient writes to who wants no more mail. The keys may be those of return paths. */
export function createUnsubscribeAddresses(...keys: TokenKeys): PartAddresses {
  return createPartAddresses("u", createPartTokens("unsubscribe", keys));
}

function createPartAddresses(letter: string, tokens: PartTokens): PartAddresses {
  const pattern = new RegExp(`^${letter}-(${PART_TOKEN})@[^@]{1,255}$`, "i");
  return {
    address: ({ host, ...of }) => `${letter}-${tokens.seal(of)}@${host}`,
    read(address) {
      const token = pattern.exec(address)?.[1];
      return token === undefined ? undefined : tokens.open(token);
    },
  };
}
