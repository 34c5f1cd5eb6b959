/** A step of a message's life: its new progress, with the timeline entries and public events that tell of it. Pure. */
import type { MessageError, Progress, TimelineEntry, TimelineKind } from "./message.ts";

export interface Step {
  readonly progress: Progress;
  readonly entries: readonly TimelineEntry[];
  /** Connectors of failures by our id that the step has moved a part by: they are parked as well. */
  readonly alsoParkedAt?: readonly string[];
}

/** What an entry is about. */
export interface Occasion {
  readonly at: number;
  readonly kind: TimelineKind;
  readonly detail?: TimelineEntry["detail"] | undefined;
  readonly error?: MessageError | undefined;
  /** The recipient of an email whom alone it is about, and that recipient's status after it. */
  readonly about?: { readonly recipient: string | undefined; readonly status: string } | undefined;
}

/** Statuses that callers are told of. */
const PUBLIC_STATUSES: ReadonlySet<string> = new Set([
  "sent",
  "delivered",
  "undelivered",
  "expired",
  "failed",
  "bounced",
]);

/** The step to `after`: one entry for the occasion, and the public events of the statuses that have changed. */
export function record(before: Progress, after: Progress, occasion: Occasion): Step {
  const isPublic =
    after.channel === "sms" && after.status !== before.status && PUBLIC_STATUSES.has(after.status);
  const first = append(
    after,
    { ...compact(occasion), ...subjectOf(after, occasion) },
    isPublic ? `sms.${after.status}` : undefined,
  );
  return after.channel === "sms" ? first : recordRecipients(before, first, occasion.at);
}

/** What is about one recipient names that recipient's status, all else the message's. */
function subjectOf(
  after: Progress,
  { about }: Pick<Occasion, "about">,
): Pick<TimelineEntry, "status" | "recipient"> {
  if (about?.recipient === undefined) return { status: after.status };
  return { recipient: about.recipient, status: about.status };
}

/** An email's public events are about one recipient each. */
function recordRecipients(before: Progress, first: Step, at: number): Step {
  let step = first;
  first.progress.parts.forEach((part, index) => {
    if (part.status === before.parts[index]?.status || !PUBLIC_STATUSES.has(part.status)) return;
    const next = append(
      step.progress,
      {
        at,
        kind: "status",
        status: part.status,
        ...(part.address !== undefined && { recipient: part.address }),
        ...(part.error && { error: part.error }),
      },
      `email.${part.status}`,
    );
    step = { progress: next.progress, entries: [...step.entries, ...next.entries] };
  });
  return step;
}

/** The step that adds one entry; with an `eventType`, also a public event. */
export function append(progress: Progress, entry: Omit<TimelineEntry, "position">, eventType?: string): Step {
  const position = progress.position + 1;
  const sequence = eventType === undefined ? progress.sequence : progress.sequence + 1;
  return {
    progress: { ...progress, position, sequence },
    entries: [{ ...entry, position, ...(eventType !== undefined && { sequence, eventType }) }],
  };
}

function compact(occasion: Occasion): Pick<TimelineEntry, "at" | "kind" | "detail" | "error"> {
  return {
    at: occasion.at,
    kind: occasion.kind,
    ...(occasion.detail && Object.keys(occasion.detail).length > 0 && { detail: occasion.detail }),
    ...(occasion.error && { error: occasion.error }),
  };
}
