import type { ChannelName, MessageError, MessageStatus, Part, PartStatus } from "./message.ts";
import type { PartOutcome } from "./outcome.ts";

/**
 * Why the parts that are still open will not be tried again. `attempts_spent`: no attempt is left, or a further one would be of no
 * use, as for the other segments of an SMS of which one was refused. `unconfirmed`: the window is over, and an attempt that was
 * never confirmed may have sent them.
 */
export type EndReason = "window_over" | "attempts_spent" | "unconfirmed";

/** Whether a part is still to be tried, or unconfirmed, until an attempt, a receipt or the end of the window settles it. */
export function isOpen(part: Part): boolean {
  return part.status === "pending" || part.status === "unconfirmed";
}

/** The status of a part in the words for messages: `whileOpen` if it is open, since its own words are none of these. */
export function statusInWords({ status }: Part, whileOpen: MessageStatus): MessageStatus {
  return status === "pending" || status === "unconfirmed" ? whileOpen : status;
}

/** Whether a receipt may change a part. Final states stay, except that an email's `delivered` may become a bounce. */
export function mayMove(from: PartStatus, to: PartStatus): boolean {
  if (from === "sent" || from === "unconfirmed" || from === "pending") return true;
  return from === "delivered" && to === "bounced";
}

/** Identifies an attempt. Without `connectorId`, nothing was tried. */
export interface AttemptBy {
  readonly connectorId?: string | undefined;
  readonly claim?: number | undefined;
}

/** A part after an attempt at it with this outcome. */
export function afterOutcome(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const taken = by.connectorId === undefined ? {} : { connectorId: by.connectorId };
  const rest = bare(part);
  if (outcome.kind === "deferred") {
    // This attempt did not send the part, but if an earlier one may have, it stays in doubt.
    const isInDoubt = part.status === "unconfirmed" || outcome.mayHaveLeft === true;
    if (!isInDoubt) return { ...rest, status: "pending", error: outcome.error };
    return { ...rest, ...onlyClaim(part, outcome, {}), status: "unconfirmed", error: outcome.error };
  }
  if (outcome.kind === "unconfirmed") {
    const only = onlyClaim(part, outcome, by);
    return { ...rest, ...taken, ...only, ...joining(outcome), status: "unconfirmed", error: outcome.error };
  }
  if (outcome.kind === "rejected") {
    const status = outcome.bounced ? "bounced" : "failed";
    const isDoubtful = part.status === "unconfirmed" && part.address !== undefined;
    return { ...rest, ...taken, ...(isDoubtful && MAY_HAVE_LEFT), status, error: outcome.error };
  }
  const [providerMessageId] = outcome.providerMessageIds;
  return {
    ...rest,
    ...taken,
    status: outcome.delivered ? "delivered" : "sent",
    ...(providerMessageId !== undefined && { providerMessageId }),
    ...joining(outcome),
  };
}

function joining({ joinedBy }: { readonly joinedBy?: string }): Pick<Part, "joinedBy"> {
  return joinedBy === undefined ? {} : { joinedBy };
}

/** For an email's parts only. */
export const MAY_HAVE_LEFT: Pick<Part, "mayHaveLeft"> = { mayHaveLeft: true };

/** `Part.claim` of a part that is now unconfirmed: set if a single attempt may have sent it. */
function onlyClaim(
  { status, claim: earlier }: Part,
  { mayHaveLeft, leftUnder }: { readonly mayHaveLeft?: true; readonly leftUnder?: number },
  { connectorId, claim }: AttemptBy,
): Pick<Part, "claim"> {
  const isHandedOver = connectorId !== undefined;
  const added = isHandedOver ? claim : leftUnder;
  const isAnother = isHandedOver || leftUnder !== undefined;
  const only = status === "pending" ? added : isAnother ? undefined : earlier;
  return only === undefined || mayHaveLeft ? {} : { claim: only };
}

/** A part that will not be tried again, ended for `reason`. If it may have been sent, it fails with the error `unconfirmed`. */
export function endPart(channel: ChannelName, part: Part, reason: EndReason): Part {
  if (part.status === "unconfirmed" || reason === "unconfirmed")
    return { ...bare(part), ...(channel === "email" && MAY_HAVE_LEFT), status: "failed", error: UNCONFIRMED };
  return { ...bare(part), ...endingOf(channel, part, reason) };
}

type Ending = Required<Pick<Part, "status" | "error">>;

const UNCONFIRMED: MessageError = {
  code: "unconfirmed",
  message: "it may have been sent; no answer came",
};

const WINDOW_OVER: MessageError = { code: "expired", message: "not delivered within its window" };

/** The error of a message whose parts have none. */
export const ERROR_OF_END: Readonly<Record<EndReason, MessageError>> = {
  window_over: WINDOW_OVER,
  attempts_spent: WINDOW_OVER,
  unconfirmed: UNCONFIRMED,
};

/** How a part that was never sent ends. For an email its last error decides between bounced and failed. */
function endingOf(channel: ChannelName, { error }: Part, reason: EndReason): Ending {
  if (channel === "sms" && reason === "window_over") return { status: "expired", error: WINDOW_OVER };
  const isBounce = channel === "email" && isReply(error);
  return { status: isBounce ? "bounced" : "failed", error: error ?? WINDOW_OVER };
}

/** Whether the receiving server answered 4yz; false for a fault on the way to it. */
function isReply(error: MessageError | undefined): boolean {
  return error !== undefined && /^(smtp\.)?4[.\d]/.test(error.code);
}

/** The part without the fields that belong to its present status. */
export function bare(known: Part): Omit<Part, "error" | "claim" | "other" | "early" | "isTakenMeanwhile"> {
  const part = withoutMeanwhile(known);
  if (part.claim === undefined && part.other === undefined && part.early === undefined)
    return withoutError(part);
  const { error: _error, claim: _claim, other: _other, early: _early, ...rest } = part;
  return rest;
}

/** The part once the attempt under way is over. */
export function withoutMeanwhile(part: Part): Omit<Part, "isTakenMeanwhile"> {
  if (part.isTakenMeanwhile === undefined) return part;
  const { isTakenMeanwhile: _, ...rest } = part;
  return rest;
}

export function withoutEarly(part: Part): Part {
  const { early: _, ...rest } = part;
  return rest;
}

/** The value without the error of its present status. */
export function withoutError<T extends { readonly error?: MessageError }>(value: T): Omit<T, "error"> {
  if (value.error === undefined) return value;
  const { error: _, ...rest } = value;
  return rest;
}
