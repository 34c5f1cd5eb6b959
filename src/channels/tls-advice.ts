/** What to say if one side of a connection speaks TLS and the other does not, which the runtime's words alone do not reveal. */
import { isIP } from "node:net";
import * as tls from "node:tls";
import type { Clock } from "../core/clock.ts";
import { familyOf } from "./local-address.ts";

/** Why a connection over TLS failed. If the server seems to speak without TLS, `cure` (a clause) is added. */
export function withClearAdvice(reason: string, cure: string): string {
  const advice = ADVICE.find(({ words }) => words.test(reason));
  return advice ? `${reason}; ${advice.say} ${cure}` : reason;
}

export const NO_HANDSHAKE = "the TLS handshake took too long";

/** Recognised by the runtime's words (BoringSSL's and Node's), since not every path keeps the error's code. */
const ADVICE: readonly { readonly words: RegExp; readonly say: string }[] = [
  { words: /WRONG_VERSION_NUMBER/, say: "the server does not begin with TLS:" },
  // Others that hang up: those that do not know our address.
  {
    words: new RegExp(`before secure TLS connection was established|^Socket is closed$|^${NO_HANDSHAKE}$`),
    say: "if the server does not begin with TLS,",
  },
];

/** Whether the octets, with which another protocol should begin, are a TLS record: an alert or a handshake (RFC 8446 §5.1). */
export function isTlsRecord(octets: Uint8Array): boolean {
  return (octets[0] === 0x15 || octets[0] === 0x16) && octets[1] === 0x03;
}

const PROBE_MS = 2_000;

interface TlsPort {
  readonly host: string;
  readonly port: number;
  /** The address to connect from; absent: as the system chooses. */
  readonly localAddress?: string;
}

/**
 * Whether the server expects TLS, whatever its certificate. Tries a handshake and nothing else, for 2 s at most. For a check that
 * failed without TLS: a server that waits for a handshake is as silent as one that is gone.
 */
export function speaksTls({ host, port, localAddress }: TlsPort, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const from = localAddress === undefined ? {} : { localAddress, family: familyOf(localAddress) };
    const socket = tls.connect({ host, port, rejectUnauthorized: false, ...name, ...from });
    const end = (does: boolean) => {
      cancel();
      socket.destroy();
      resolve(does);
    };
    const cancel = clock.after(PROBE_MS, () => end(false));
    socket.once("secureConnect", () => end(true));
    socket.on("error", () => end(false));
    socket.once("close", () => end(false));
  });
}
