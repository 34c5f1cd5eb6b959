import type { PartOutcome } from "../../../core/outcome.ts";
import { isOpen } from "../../../core/part.ts";
import type { OutgoingEmail } from "../../channel.ts";
import { toEnvelopeAddress } from "./mail-address.ts";

/** Who an attempt is for. */
export interface Recipients {
  /** As the envelope carries them, each once. */
  readonly addresses: readonly string[];
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
    outcomes: (of) => covered.map((entry) => (typeof entry === "string" ? of(entry) : entry)),
  };
}

const INVALID: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.invalid_address", message: "not an address that SMTP can carry" },
};
