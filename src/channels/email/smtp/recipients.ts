import type { PartOutcome } from "../../../core/messages/outcome.ts";
import type { OutgoingEmail } from "../../channel.ts";
import { isToBeSent } from "../../is-to-be-sent.ts";
import { toEnvelopeAddress } from "../mail/mail-address.ts";
import type { PartAddresses } from "../part-address.ts";
import type { Envelope } from "./smtp-transaction.ts";

/** The recipients that an attempt is for. */
export interface Recipients {
  /** As the envelope carries them, each once. */
  readonly addresses: readonly string[];
  /** Index of the first part with this address. */
  readonly partOf: (address: string) => number;
  /** One entry for each part of the message: `of` its address, or `undefined` if this attempt is not for it. */
  readonly outcomes: (of: (address: string) => PartOutcome) => readonly (PartOutcome | undefined)[];
}

export function recipientsOf(message: OutgoingEmail): Recipients {
  const covered = message.parts.map((part, index) => {
    if (!isToBeSent(message, index)) return undefined;
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
 * With a return path of ours, one envelope per recipient, so that a bounce tells whom it is about, and a DSN is
 * requested (RFC 3461). Without one, a single envelope for all, whose bounces go to the sender's own mailbox.
 */
export function envelopesOf(
  { messageId, content, returnPathHost }: OutgoingEmail,
  { addresses, partOf }: Recipients,
  { returnPaths, wantsSuccess }: Asked,
): readonly Envelope[] {
  if (returnPathHost === undefined) {
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
  readonly returnPaths: PartAddresses;
  /** Request DSNs for successful deliveries too, not only for failures. */
  readonly wantsSuccess: boolean;
}
