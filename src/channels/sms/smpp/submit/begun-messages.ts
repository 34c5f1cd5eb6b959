import { remember } from "../../../../core/work/remember.ts";
import type { Session } from "../session/session.ts";
import type { SmppConfig } from "../smpp-config.ts";

/** What the segments of a long message have in common, because handsets, and some SMSCs, join only those that have. */
export interface BegunMessage {
  /** The session that they go over, as long as it is open; it may be absent once it is closed. */
  readonly over?: Session;
  /** Their validity period. */
  readonly validMs: number;
  /** The settings that they were planned by, its sender and alphabet among them. */
  readonly config: SmppConfig;
}

/** The long messages that went out last, so that segments of a later attempt have it in common too. */
export interface BegunMessages {
  of(messageId: string): BegunMessage | undefined;
  note(messageId: string, begunAs: BegunMessage): void;
}

/** How many messages are remembered. Those that were noted the longest ago are forgotten first. */
const MAX_REMEMBERED = 10_000;

export function createBegunMessages(): BegunMessages {
  const messages = new Map<string, BegunMessage>();
  /** Those that the messages went over. */
  const sessions = new Set<Session>();
  /** With its connection a session takes about 8 KB: were those that have closed not let go, there might be one for each message. */
  const letClosedGo = () => {
    for (const session of sessions) if (!session.slots.isOpen()) sessions.delete(session);
    for (const [messageId, { over, ...others }] of messages)
      if (over && !sessions.has(over)) messages.set(messageId, others);
  };
  return {
    of: (messageId) => messages.get(messageId),
    note(messageId, begunAs) {
      const { over } = begunAs;
      if (over && !sessions.has(over)) {
        letClosedGo();
        sessions.add(over);
      }
      remember(messages, [messageId, begunAs], MAX_REMEMBERED);
    },
  };
}

/** A segment may be valid for longer than is left of its window by this part of it, and by no more than that. */
const MOST_OVER_PART = 1 / 10;
const MOST_OVER_MS = 10_000;

/** The validity period of a segment that goes out when so much of the delivery window is left. */
export function validityMs(begunAs: BegunMessage | undefined, remainingMs: number): number {
  const mostMs = remainingMs + Math.min(MOST_OVER_MS, remainingMs * MOST_OVER_PART);
  return begunAs && begunAs.validMs <= mostMs ? begunAs.validMs : remainingMs;
}
