import { hkdfSync } from "node:crypto";
import { createReturnPaths, type ReturnPaths } from "../../channels/email/return-path.ts";
import { createUnsubscribeTokens, type UnsubscribeTokens } from "../../channels/email/unsubscribe-token.ts";

/** Signs return paths and unsubscribe links with keys derived from the master key, the same in every process. */
export interface MailKeys {
  readonly returnPaths: ReturnPaths;
  readonly unsubscribes: UnsubscribeTokens;
}

/** @param earlier `mailRootOf` earlier master keys, whose links and return paths stay valid */
export function createMailKeys(masterKey: string | Uint8Array, earlier: readonly string[] = []): MailKeys {
  const newest = keysOf(mailRootOf(masterKey));
  const all = [newest, ...earlier.map(keysOf)];
  return {
    returnPaths: {
      ...newest.returnPaths,
      readUnsubscribe: (address) => firstOf(all, ({ returnPaths }) => returnPaths.readUnsubscribe(address)),
      read: (address) => firstOf(all, ({ returnPaths }) => returnPaths.read(address)),
    },
    unsubscribes: {
      ...newest.unsubscribes,
      open: (token) => firstOf(all, ({ unsubscribes }) => unsubscribes.open(token)),
    },
  };
}

/** Hex. The only thing kept of a master key after its rotation; it cannot open secrets. */
export function mailRootOf(masterKey: string | Uint8Array): string {
  return Buffer.from(hkdfSync("sha256", masterKey, "", "postrider mail", 32)).toString("hex");
}

function keysOf(root: string): MailKeys {
  const derive = (purpose: string) =>
    new Uint8Array(hkdfSync("sha256", Buffer.from(root, "hex"), "", purpose, 32));
  return {
    returnPaths: createReturnPaths(derive("postrider return paths")),
    unsubscribes: createUnsubscribeTokens(derive("postrider unsubscribe links")),
  };
}

function firstOf<Key, Found>(keys: readonly Key[], find: (key: Key) => Found | undefined): Found | undefined {
  for (const key of keys) {
    const found = find(key);
    if (found !== undefined) return found;
  }
  return undefined;
}
