import type { OutgoingSms } from "../../../channel.ts";
import type { SmppConfig } from "../smpp-config.ts";
import type { Address } from "../wire/pdu.ts";

/** A source_addr has at most 20 characters before its NUL (§5.2.8). */
const ADDRESS = /^[\x20-\x7e]{1,20}$/;

/** Up to this many digits are a short code or a numeric header; more are a telephone number. */
const SHORT_CODE_DIGITS = 8;

/** The sender as the message or, if that names none, the connector writes it; `undefined` if neither names one. */
export function senderOf(message: OutgoingSms, config: SmppConfig): string | undefined {
  return message.from ?? config.source_addr;
}

/** The message's source address; `undefined` if the sender does not fit into one. */
export function sourceAddress(message: OutgoingSms, config: SmppConfig): Address | undefined {
  return addressOf(senderOf(message, config), config);
}

export function addressOf(from: string | undefined, config: SmppConfig): Address | undefined {
  const fitting = from ? fittingAddress(from) : { ton: 0, npi: 0, address: "" };
  if (from && !ADDRESS.test(fitting.address)) return undefined;
  return { ...fitting, ton: config.source_ton ?? fitting.ton, npi: config.source_npi ?? fitting.npi };
}

/** The address with TON and NPI (§5.2.5, §5.2.6): alphanumeric 5/0, short code 3/0, international 1/1. */
function fittingAddress(from: string): Address {
  if (/^\+\d+$/.test(from)) return { ton: 1, npi: 1, address: from.slice(1) };
  if (!/^\d+$/.test(from)) return { ton: 5, npi: 0, address: from };
  return from.length <= SHORT_CODE_DIGITS
    ? { ton: 3, npi: 0, address: from }
    : { ton: 1, npi: 1, address: from };
}

export function destinationAddress({ to }: OutgoingSms, config: SmppConfig): Address {
  const address = config.dest_plus ? to : to.replace(/^\+/, "");
  return { ton: config.dest_ton, npi: config.dest_npi, address };
}
