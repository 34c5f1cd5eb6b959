/** Timeline entries about attempts. Each shows the result of its attempt, not of the whole message. Pure. */
import type { MessageError, MessageStatus, Progress, TimelineEntry, TimelineKind } from "./message.ts";
import type { PartOutcome } from "./outcome.ts";
import { statusInWords } from "./part.ts";
import type { Occasion } from "./step.ts";

type Detail = NonNullable<TimelineEntry["detail"]>;

/** The fields of an attempt that its entry shows. */
interface ToldAttempt {
  readonly at: number;
  readonly connectorId?: string;
  readonly outcomes: readonly (PartOutcome | undefined)[];
  readonly detail?: TimelineEntry["detail"];
  readonly next: { readonly kind: "again" | "held" | "done" };
  readonly toldAs?: TimelineKind;
}

export function attemptOccasion(before: Progress, after: Progress, attempt: ToldAttempt): Occasion {
  return {
    at: attempt.at,
    kind: attempt.connectorId === undefined ? "status" : (attempt.toldAs ?? "attempt"),
    detail: attemptDetail(before, attempt),
    error: firstError(before, attempt) ?? endedBy(before, after),
    about: onlyRecipient(before, after, attempt),
  };
}

/** For an email, which may have several recipients, the detail also counts their outcomes. */
export function attemptDetail(before: Pick<Progress, "channel">, attempt: ToldAttempt): Detail {
  const { detail, connectorId, outcomes } = attempt;
  return {
    ...detail,
    ...(connectorId !== undefined && { connector: connectorId }),
    ...(before.channel === "email" && connectorId !== undefined && countsOf(outcomes)),
  };
}

/**
 * How many recipients had which outcome, if the attempt was for several. That one is unconfirmed is always told: by its error alone it could
 * not be told from one whose connection was lost before its mail, and it may get the mail twice.
 */
function countsOf(outcomes: readonly (PartOutcome | undefined)[]): Detail {
  const kinds = outcomes.flatMap((outcome) => (outcome ? [outcome.kind] : []));
  if (kinds.length < 2 && !kinds.includes("unconfirmed")) return {};
  return Object.fromEntries(
    [...new Set(kinds)].map((kind) => [kind, kinds.filter((each) => each === kind).length]),
  );
}

/**
 * The one error that the entry shows. `unconfirmed` comes first, since it explains why a part may be sent twice. For an email,
 * `deferred` comes before `rejected`: a rejected recipient has an entry of its own, a deferred one has not.
 */
function firstError({ channel }: Progress, { outcomes }: ToldAttempt): MessageError | undefined {
  const failed = outcomes.flatMap((outcome) => (outcome && outcome.kind !== "sent" ? [outcome] : []));
  const ofKind = (wanted: PartOutcome["kind"]) => failed.find(({ kind }) => kind === wanted)?.error;
  const doubtful = ofKind("unconfirmed");
  if (channel === "email") return doubtful ?? ofKind("deferred") ?? ofKind("rejected");
  return doubtful ?? ofKind("rejected") ?? ofKind("deferred");
}

/** The error if no provider gave one: that of the SMS, or of the first recipient of an email, which this attempt has ended. */
function endedBy(before: Progress, after: Progress): MessageError | undefined {
  if (before.channel === "sms") return after.status === before.status ? undefined : after.error;
  return after.parts.find(({ status }, index) => status !== before.parts[index]?.status)?.error;
}

/**
 * If the attempt was for a single recipient of an email: the recipient, with a status in the words for messages. A part that is
 * open is `queued` if it is tried again, `sending` if it is held.
 */
function onlyRecipient(before: Progress, after: Progress, attempt: ToldAttempt): Occasion["about"] {
  if (before.channel === "sms" || attempt.connectorId === undefined) return undefined;
  const tried = after.parts.filter((_, index) => attempt.outcomes[index] !== undefined);
  const [only] = tried;
  if (!only || tried.length > 1) return undefined;
  return { recipient: only.address, status: statusInWords(only, openStatus(attempt)) };
}

function openStatus({ next }: ToldAttempt): MessageStatus {
  return next.kind === "held" ? "sending" : "queued";
}
