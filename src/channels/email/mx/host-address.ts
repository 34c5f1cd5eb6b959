import type { MailPolicy } from "../../../core/email/mail-policy.ts";
import type { MailHost } from "./find-mail-hosts.ts";
import { allowsHost } from "./mta-sts-policy.ts";
import type { MxSettings } from "./mx-config.ts";

/** One address of a mail host, and whether its certificate has to prove the host's name. */
export interface HostAddress {
  readonly name: string;
  readonly address: string;
  /** True: by MTA-STS, the certificate must be valid for the name. False: TLS is used if it is offered. */
  readonly mustProve: boolean;
}

/** The addresses of the hosts, in the same order; where a policy is enforced, of those that it allows. */
export function addressesOf(
  hosts: readonly MailHost[],
  policy: MailPolicy | undefined,
): readonly HostAddress[] {
  const mustProve = policy?.mode === "enforce";
  return hosts
    .filter(({ name }) => !mustProve || allowsHost(policy, name))
    .flatMap(({ name, addresses }) => addresses.map((address) => ({ name, address, mustProve })));
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
