/** What the entry of an attempt says of it: of this attempt, and not of what has become of the message otherwise. Pure. */
import type { MessageError, Progress, TimelineEntry } from "./message.ts";
import type { PartOutcome } from "./outcome.ts";
import { isOpen } from "./part.ts";
import type { Occasion } from "./step.ts";

type Detail = NonNullable<TimelineEntry["detail"]>;

/** An attempt, as far as its entry tells of it. */
interface ToldAttempt {
  readonly at: number;
  readonly connectorId?: string;
  readonly outcomes: readonly (PartOutcome | undefined)[];
  readonly detail?: TimelineEntry["detail"];
  readonly next: { readonly kind: "again" | "held" | "done" };
}

export function attemptOccasion(before: Progress, after: Progress, attempt: ToldAttempt): Occasion {
  return {
    at: attempt.at,
    kind: attempt.connectorId === undefined ? "status" : "attempt",
    detail: attemptDetail(before, attempt),
    error: firstError(before, attempt) ?? endedBy(before, after),
    about: onlyRecipient(before, after, attempt),
  };
}

/** `before`: tells an email, which has several recipients, from an SMS. */
export function attemptDetail(before: Pick<Progress, "channel">, attempt: ToldAttempt): Detail {
  const { detail, connectorId, outcomes } = attempt;
  return {
    ...detail,
    ...(connectorId !== undefined && { connector: connectorId }),
    ...(before.channel === "email" && connectorId !== undefined && countsOf(outcomes)),
  };
}

/** How many recipients came to what, where an attempt was for several. */
function countsOf(outcomes: readonly (PartOutcome | undefined)[]): Detail {
  const kinds = outcomes.flatMap((outcome) => (outcome ? [outcome.kind] : []));
  if (kinds.length < 2) return {};
  return Object.fromEntries(
    [...new Set(kinds)].map((kind) => [kind, kinds.filter((each) => each === kind).length]),
  );
}

/**
 * The error to show of an attempt. `unconfirmed` comes first, since it is why a part may be sent twice. A recipient of an
 * email that is rejected has an entry of its own, and one that is deferred has none: there `deferred` is next.
 */
function firstError({ channel }: Progress, { outcomes }: ToldAttempt): MessageError | undefined {
  const failed = outcomes.flatMap((outcome) => (outcome && outcome.kind !== "sent" ? [outcome] : []));
  const ofKind = (wanted: PartOutcome["kind"]) => failed.find(({ kind }) => kind === wanted)?.error;
  const doubtful = ofKind("unconfirmed");
  if (channel === "email") return doubtful ?? ofKind("deferred") ?? ofKind("rejected");
  return doubtful ?? ofKind("rejected") ?? ofKind("deferred");
}

/** Why it ended what it ended, without a word of a provider: the recipients of an email, or an SMS. */
function endedBy(before: Progress, after: Progress): MessageError | undefined {
  if (before.channel === "sms") return after.status === before.status ? undefined : after.error;
  return after.parts.find(({ status }, index) => status !== before.parts[index]?.status)?.error;
}

/** The recipient of an email whom alone the attempt was for, in the words for messages: a part that is open is tried again, or held. */
function onlyRecipient(before: Progress, after: Progress, attempt: ToldAttempt): Occasion["about"] {
  if (before.channel === "sms" || attempt.connectorId === undefined) return undefined;
  const tried = after.parts.filter((_, index) => attempt.outcomes[index] !== undefined);
  const [only] = tried;
  if (!only || tried.length > 1) return undefined;
  return { recipient: only.address, status: isOpen(only) ? openStatus(attempt) : only.status };
}

function openStatus({ next }: ToldAttempt): string {
  return next.kind === "held" ? "sending" : "queued";
}
