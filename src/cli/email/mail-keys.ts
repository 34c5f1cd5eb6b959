import { hkdfSync } from "node:crypto";
import {
  createReturnPaths,
  createUnsubscribeAddresses,
  type PartAddresses,
} from "../../channels/email/part-address.ts";
import type { TokenKeys } from "../../channels/email/part-token.ts";
import { createUnsubscribeTokens, type UnsubscribeTokens } from "../../channels/email/unsubscribe-token.ts";

/** Signs return paths and unsubscribe links with keys derived from the master key, the same in every process. */
export interface MailKeys {
  readonly returnPaths: PartAddresses;
  readonly unsubscribeAddresses: PartAddresses;
  readonly unsubscribes: UnsubscribeTokens;
}

/** @param earlier `mailRootOf` earlier master keys, whose links and return paths stay valid */
export function createMailKeys(masterKey: string | Uint8Array, earlier: readonly string[] = []): MailKeys {
  const keysFor = (purpose: string): TokenKeys => {
    const derive = (root: string) =>
      new Uint8Array(hkdfSync("sha256", Buffer.from(root, "hex"), "", purpose, 32));
    return [derive(mailRootOf(masterKey)), ...earlier.map(derive)];
  };
  const ofAddresses = keysFor("postrider return paths");
  return {
    returnPaths: createReturnPaths(...ofAddresses),
    unsubscribeAddresses: createUnsubscribeAddresses(...ofAddresses),
    unsubscribes: createUnsubscribeTokens(...keysFor("postrider unsubscribe links")),
  };
}

/** Hex. The only thing kept of a master key after its rotation; it cannot open secrets. */
export function mailRootOf(masterKey: string | Uint8Array): string {
  return Buffer.from(hkdfSync("sha256", masterKey, "", "postrider mail", 32)).toString("hex");
}
