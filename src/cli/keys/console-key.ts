import { hkdfSync } from "node:crypto";

/** Signs the sessions of the web console, in every process. A rotation of the master key ends the sessions. */
export function consoleKeyOf(masterKey: string | Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", masterKey, "", "postrider console sessions", 32));
}
