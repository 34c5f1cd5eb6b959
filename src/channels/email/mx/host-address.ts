import type { MxSettings } from "./mx-config.ts";

/** One address of a mail host, and whether its certificate has to prove the host's name. */
export interface HostAddress {
  readonly name: string;
  readonly address: string;
  /** True: by MTA-STS, the certificate must be valid for the name. False: TLS is used if it is offered. */
  readonly mustProve: boolean;
}

/**
 * The address, and the name if the certificate has to prove it. What is there is one server, whatever domains call it: mail to all of
 * them may go over the same connections.
 */
export function placeOf({ address, name, mustProve }: HostAddress): string {
  return mustProve ? `${address} ${name}` : address;
}

export function sessionSettings({ session }: MxSettings, { name, address, mustProve }: HostAddress) {
  const tls = mustProve ? ("required" as const) : ("opportunistic" as const);
  return { ...session, host: address, servername: name, tls };
}
