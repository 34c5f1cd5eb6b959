import type { InboundSpan, ReceivedSms } from "../../../../core/inbound/inbound.ts";

/** If a message was not acknowledged, the SMSC delivers it again within this time. */
export const REPEATS_WITHIN_MS = 10 * 60_000;

/** If its session went on for this long after an acknowledgement, that has surely reached the SMSC. */
const ARRIVES_WITHIN_MS = 30_000;

/** 83 in a second for as long as repeats are looked for. Twice as many take 22 MB. */
const REMEMBERED = 50_000;

/** A session on which messages are delivered. Times are on the monotonic clock. */
export interface DeliverySession {
  /** Absent while it goes on. `readUntilMs`: as in `SessionEnd`. */
  end?: { readonly atMs: number; readonly readUntilMs?: number | undefined };
}

export interface InboundAnswer {
  readonly received: Pick<ReceivedSms, "key" | "receivedAt" | "isKnownNew">;
  readonly session: DeliverySession;
  /** On the monotonic clock. */
  readonly atMs: number;
}

interface Coming extends Pick<ReceivedSms, "receivedAt" | "sameSince"> {
  /** As `Unanswered` numbers it. */
  readonly copy: number;
}

/** Makes the keys by which repeats are found. */
export interface InboundKeys {
  /**
   * The key is what the message says, by which it is found also after a restart, unless it would be taken for a repeat of another
   * one that way.
   */
  of(fingerprint: string, coming: Coming): Pick<ReceivedSms, "key" | "isKnownNew">;
  taken(fingerprint: string, answer: InboundAnswer): void;
  /** It comes again with the same key, since it may have been stored all the same. */
  refused(fingerprint: string, answer: InboundAnswer): void;
  /**
   * Of what was received at `since` or later: from when to when, if its sessions have ended and the SMSC is known to have our answers
   * to all of it; otherwise, or if nothing was, `undefined`.
   */
  knownSpan(since: number): Omit<InboundSpan, "connectorId"> | undefined;
}

/** @param remembered how many messages are remembered at least; twice as many are at most */
export function createInboundKeys(remembered = REMEMBERED): InboundKeys {
  const memory = createMemory(remembered);
  let made = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  let firstAt: number | undefined;
  return {
    of(fingerprint, { copy, receivedAt, sameSince }) {
      const last = memory.last(fingerprint);
      const isRecent = last !== undefined && last.receivedAt >= sameSince;
      if (isRecent && isKnownTaken(last))
        return { key: `${fingerprint}.${receivedAt}.${++made}`, isKnownNew: true };
      // The same for the same copy: a connection that is lost before the answers brings all of them again.
      if (copy > 1) return { key: `${fingerprint}.${copy}` };
      if (isRecent && last.ownKey !== undefined) return { key: last.ownKey, isKnownNew: true };
      return { key: fingerprint };
    },
    taken(fingerprint, answer) {
      firstAt ??= answer.received.receivedAt;
      memory.remember(fingerprint, answer);
    },
    refused(fingerprint, { received, atMs }) {
      refusedAt = Math.max(refusedAt, received.receivedAt);
      if (received.isKnownNew) memory.remember(fingerprint, { received, session: { end: { atMs } }, atMs });
    },
    knownSpan(since) {
      const recent = memory.all().filter(({ receivedAt }) => receivedAt >= since);
      // What was refused comes again, and may have been stored.
      if (recent.length === 0 || refusedAt >= since || !recent.every(isOver)) return undefined;
      const until = recent.reduce((latest, { receivedAt }) => Math.max(latest, receivedAt), since);
      return { since: Math.max(since, firstAt ?? since), until };
    },
  };
}

interface Answered extends Pick<InboundAnswer, "session" | "atMs"> {
  readonly receivedAt: number;
  /** Its key, if that is not the one of what it says. */
  readonly ownKey: string | undefined;
}

/** Whether the SMSC knows that we have the message: then another one that says the same is new, not a repeat. */
function isKnownTaken({ session: { end }, atMs }: Answered): boolean {
  if (!end) return true;
  const { atMs: endedMs, readUntilMs = Number.NEGATIVE_INFINITY } = end;
  return atMs <= readUntilMs || endedMs - atMs > ARRIVES_WITHIN_MS;
}

/** Whether nothing can bring it again any more, not even a crash right now. */
function isOver(answered: Answered): boolean {
  return answered.session.end !== undefined && isKnownTaken(answered);
}

/**
 * Remembers the last message with a fingerprint that was answered, and on which session. In two generations, of which the older one
 * goes as a whole: to take the first entry of a long map away, again and again, costs more than everything else here.
 */
function createMemory(remembered: number) {
  let young = new Map<string, Answered>();
  let old = young;
  let sinceMs = Number.NEGATIVE_INFINITY;
  const last = (fingerprint: string) => young.get(fingerprint) ?? old.get(fingerprint);
  return {
    last,
    all: () => [...new Map([...old, ...young]).values()],
    remember(fingerprint: string, { received, session, atMs }: InboundAnswer) {
      if (young.size >= remembered || atMs - sinceMs > REPEATS_WITHIN_MS) {
        [old, young] = [young, new Map()];
        sinceMs = atMs;
      }
      const { key, receivedAt, isKnownNew } = received;
      const ownKey = isKnownNew || last(fingerprint)?.ownKey === key ? key : undefined;
      young.set(fingerprint, { ownKey, receivedAt, session, atMs });
    },
  };
}
