/** A step in a message's life: its new progress, and the timeline entries (some of them public events) that record it. Pure. */
import type {
  MessageError,
  MessageStatus,
  PartStatus,
  Progress,
  TimelineEntry,
  TimelineKind,
} from "./message.ts";

export interface Step {
  readonly progress: Progress;
  readonly entries: readonly TimelineEntry[];
  /**
   * The connectors that reported failures under our own id, which this step has applied. These receipts are parked as well, and
   * must be deleted if the step has settled the message.
   */
  readonly alsoParkedAt?: readonly string[];
}

/** What a timeline entry records. */
export interface Occasion {
  readonly at: number;
  readonly kind: TimelineKind;
  readonly detail?: TimelineEntry["detail"] | undefined;
  readonly error?: MessageError | undefined;
  /** If it is about a single recipient of an email: the recipient, and the recipient's status afterwards. */
  readonly about?: { readonly recipient: string | undefined; readonly status: MessageStatus } | undefined;
}

const PUBLIC_STATUSES: ReadonlySet<string> = new Set<MessageStatus>([
  "sent",
  "delivered",
  "undelivered",
  "expired",
  "failed",
  "bounced",
]);

/** Whether a public event announces a change to this status. */
function isAnnounced(status: MessageStatus | PartStatus): status is MessageStatus {
  return PUBLIC_STATUSES.has(status);
}

/** The step from `before` to `after`: an entry for the occasion, and a public event for each status that has changed. */
export function record(before: Progress, after: Progress, occasion: Occasion): Step {
  const isPublic = after.channel === "sms" && after.status !== before.status && isAnnounced(after.status);
  const first = append(
    after,
    { ...compact(occasion), ...subjectOf(after, occasion) },
    isPublic ? `sms.${after.status}` : undefined,
  );
  return after.channel === "sms" ? first : recordRecipients(before, first, occasion.at);
}

/** The status that an entry shows: that of the recipient that it is about, or else that of the message. */
function subjectOf(
  after: Progress,
  { about }: Pick<Occasion, "about">,
): Pick<TimelineEntry, "status" | "recipient"> {
  if (about?.recipient === undefined) return { status: after.status };
  return { recipient: about.recipient, status: about.status };
}

/** Adds an email's public events, each about one recipient. */
function recordRecipients(before: Progress, first: Step, at: number): Step {
  let step = first;
  first.progress.parts.forEach((part, index) => {
    const { status } = part;
    if (status === before.parts[index]?.status || !isAnnounced(status)) return;
    const next = append(
      step.progress,
      {
        at,
        kind: "status",
        status,
        ...(part.address !== undefined && { recipient: part.address }),
        ...(part.error && { error: part.error }),
      },
      `email.${status}`,
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
