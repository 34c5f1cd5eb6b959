/** The address of this machine that a connector connects from, where a provider allows only some. */
import { createSocket } from "node:dgram";
import { isIP } from "node:net";
import Type from "typebox";
import { bareHost } from "./host-name.ts";

export const LOCAL_ADDRESS = Type.Optional(
  Type.String({
    maxLength: 64,
    description: "Address of this machine to connect from, IPv4 or IPv6; absent: as the system chooses",
  }),
);

/** What is wrong with a connector's `local_address`, under that name; empty if nothing is. */
export function localAddressProblem(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const { local_address: local, host, ip } = config;
  if (typeof local !== "string") return {};
  const family = isIP(local);
  if (family === 0) return { local_address: "must be an address, for example 192.0.2.10 or 2001:db8::10" };
  const others = typeof host === "string" ? isIP(bareHost(host)) : FAMILY_OF[String(ip)];
  return others && others !== family
    ? {
        local_address: `must be an IPv${others} address, as \`${host === undefined ? "ip" : "host"}\` asks for`,
      }
    : {};
}

const FAMILY_OF: Readonly<Record<string, number>> = { ipv4: 4, ipv6: 6 };

/** 4 or 6: the only addresses that can be connected to from this one. */
export function familyOf(localAddress: string): 4 | 6 {
  return isIP(localAddress) === 6 ? 6 : 4;
}

/** Why nothing can be connected to from the address; `undefined` if this machine has it, or does not say. */
export function missingLocalAddress(localAddress: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(familyOf(localAddress) === 6 ? "udp6" : "udp4");
    const end = (missing?: string) => {
      socket.close();
      resolve(missing);
    };
    socket.once("error", ({ message }) =>
      end(isMissing(message) ? withLocalAddressAdvice(message, localAddress) : undefined),
    );
    socket.bind({ address: localAddress, port: 0, exclusive: true }, () => end());
  });
}

/** Whether the system says of an address to connect from that this machine does not have it. */
export function isMissing(reason: string): boolean {
  return reason.includes("EADDRNOTAVAIL");
}

/** The reason why there is no connection. If the cause may be the local address, it also says so. */
export function withLocalAddressAdvice(reason: string, localAddress: string | undefined): string {
  if (localAddress === undefined) return reason;
  if (isMissing(reason))
    return `${reason}; this machine does not have the address ${localAddress}: set \`local_address\` to one that it has`;
  const family = familyOf(localAddress);
  const peer = isIP(/ (\S+):\d+(?: |$)/.exec(reason)?.[1] ?? "");
  const isOther = peer !== 0 && peer !== family;
  return isOther || NOT_FOUND.test(reason)
    ? `${reason}; from \`local_address\` ${localAddress} only IPv${family} addresses can be connected to`
    : reason;
}

const NOT_FOUND = /ENOTFOUND|ENODATA|EAI_/;
