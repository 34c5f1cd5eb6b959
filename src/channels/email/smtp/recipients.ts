import type { PartOutcome } from "../../../core/messages/outcome.ts";
import { isOpen } from "../../../core/messages/part.ts";
import type { OutgoingEmail } from "../../channel.ts";
import type { ReturnPaths } from "../return-path.ts";
import { toEnvelopeAddress } from "./mail-address.ts";
import type { Envelope } from "./smtp-transaction.ts";

/** Who an attempt is for. */
export interface Recipients {
  /** As the envelope carries them, each once. */
  readonly addresses: readonly string[];
  /** The first part with this address. */
  readonly partOf: (address: string) => number;
  /** One entry for each part of the message: what `of` says of its address; `undefined` where it is not covered. */
  readonly outcomes: (of: (address: string) => PartOutcome) => readonly (PartOutcome | undefined)[];
}

/** The parts that are still open, within `only`. */
export function recipientsOf({ parts, only }: OutgoingEmail): Recipients {
  const covered = parts.map((part, index) => {
    if (!isOpen(part) || (only && !only.includes(index))) return undefined;
    return toEnvelopeAddress(part.address ?? "") ?? INVALID;
  });
  const addresses = covered.filter((address) => typeof address === "string");
  return {
    addresses: [...new Set(addresses)],
    partOf: (address) => covered.indexOf(address),
    outcomes: (of) => covered.map((entry) => (typeof entry === "string" ? of(entry) : entry)),
  };
}

const INVALID: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.invalid_address", message: "not an address that SMTP can carry" },
};

/**
 * Where bounces can come back to us, an envelope for each recipient, so that a bounce names whom it is about, and a
 * word asked for on what becomes of it (RFC 3461). Otherwise one for all: bounces go to the sender, who reads them.
 */
export function envelopesOf(
  { messageId, content, returnPathHost }: OutgoingEmail,
  { addresses, partOf }: Recipients,
  { returnPaths, wantsSuccess }: Asked,
): readonly Envelope[] {
  if (returnPathHost === undefined || !returnPaths) {
    const from = toEnvelopeAddress(content.from.email) ?? "";
    return addresses.length === 0 ? [] : [{ from, to: addresses }];
  }
  return addresses.map((address) => ({
    from: returnPaths.address({ messageId, part: partOf(address), host: returnPathHost }),
    to: [address],
    dsn: { envid: messageId, orcpt: address, wantsSuccess },
  }));
}

interface Asked {
  readonly returnPaths: ReturnPaths | undefined;
  /** Otherwise only failures are told. */
  readonly wantsSuccess: boolean;
}
