import type { MessageError } from "../../../core/messages/message.ts";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import { CALLED_OFF, type Fault } from "../smtp/hand-over.ts";

/** What becomes of the recipients whose mail was offered to none of their domain's hosts. */
export interface NotOffered {
  readonly outcome: PartOutcome & { readonly kind: "deferred" };
  /** False if only we, or what a host had said before, held the mail back. */
  readonly countsAsAttempt: boolean;
}

export interface FaultAtHost extends Fault {
  /** The host's name; absent: no host was chosen yet. */
  readonly host?: string;
  /** Set if our own limits held the mail back: books the mail's turn, and returns after how many milliseconds that is. */
  readonly book?: () => number;
}

/**
 * Of the hosts' faults, that of the last one that was asked is told; if none was, the first, since that host is the one that is asked
 * next, and a turn there is booked.
 */
export function notOffered(faults: readonly FaultAtHost[]): NotOffered {
  const asked = faults.findLast(isOfHost);
  if (asked) return { outcome: { kind: "deferred", error: toError(asked) }, countsAsAttempt: true };
  const { code, message, book, ...fault }: FaultAtHost = faults[0] ?? CALLED_OFF;
  const retryAfterMs = book ? book() : fault.retryAfterMs;
  // The timeline needs no entry for each time.
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs, isOwnPace: true as const };
  return { outcome: { kind: "deferred", error: { code, message }, ...wait }, countsAsAttempt: false };
}

/** Our own limits are reached. */
export function busy(book: () => number): FaultAtHost {
  return { code: "mx.busy", message: "as many messages as allowed are on their way there", book };
}

/** Whether the host was not asked, for a reason of ours, or since it had said that it takes nothing now. */
export function isHeldBack({ retryAfterMs, book }: FaultAtHost): boolean {
  return retryAfterMs !== undefined || book !== undefined;
}

function isOfHost(fault: FaultAtHost): boolean {
  return !isHeldBack(fault) && fault.code !== CALLED_OFF.code;
}

/** With the enhanced status code (RFC 3463) of a host that could not be spoken to, and its name: a domain may have several. */
function toError({ host, code, message }: FaultAtHost): MessageError {
  const named = host === undefined ? message : `${host}: ${message}`;
  return { code: code === "smtp.tls" ? "4.7.5" : "4.4.1", message: named };
}
