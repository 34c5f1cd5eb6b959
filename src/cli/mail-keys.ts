import { hkdfSync } from "node:crypto";
import { createReturnPaths, type ReturnPaths } from "../channels/email/return-path.ts";
import { createUnsubscribeTokens, type UnsubscribeTokens } from "../channels/email/unsubscribe-token.ts";

/** What proves that an address or a link was made here: derived from the master key, the same in every process. */
export interface MailKeys {
  readonly returnPaths: ReturnPaths;
  readonly unsubscribes: UnsubscribeTokens;
}

export function createMailKeys(masterKey: string | Uint8Array): MailKeys {
  const derive = (purpose: string) => new Uint8Array(hkdfSync("sha256", masterKey, "", purpose, 32));
  return {
    returnPaths: createReturnPaths(derive("postrider return paths")),
    unsubscribes: createUnsubscribeTokens(derive("postrider unsubscribe links")),
  };
}
