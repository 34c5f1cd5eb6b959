import type { Clock } from "../../../../core/clock.ts";
import { createSenderBookings, EARLY_MS } from "./sender-bookings.ts";
import { createSenderLine, type SenderLine } from "./sender-line.ts";

/** Keeps each sender to its rate, in segments per second, without holding up other senders. */
export interface SenderPace {
  /**
   * Asks for a message's turn. The answer is a `HeldTurn`, and its first segment may be sent; or `AskAgain`. If it is a promise,
   * the message waits in line until that resolves, within `LONGEST_IN_LINE_MS`.
   */
  turn(asked: AskedTurn): Turn | Promise<Turn>;
  /** How many milliseconds a segment takes at a sender's rate. */
  segmentMs(): number;
}

/** The turn of a message: one segment may be sent. Nothing else of its sender is sent until it has been, or the turn ends. */
export interface HeldTurn {
  /** To be called when the segment is sent: counts it. */
  gone(): void;
  /** Resolves with true when the next segment may be sent; with false if it may not within `limitMs`, or on abort. */
  next(limitMs: number): Promise<boolean>;
  /** Ends the turn. To be called in any case, even if not all segments were sent. */
  end(): void;
  /** About how many milliseconds lie between its segments: other flows take turns with it. */
  intervalMs(): number;
}

/** The message should ask again after this many milliseconds, and keeps no slot meanwhile. */
export interface AskAgain {
  readonly retryAfterMs: number;
}

export type Turn = HeldTurn | AskAgain;

export function isAskAgain(turn: object): turn is AskAgain {
  return "retryAfterMs" in turn;
}

export interface AskedTurn {
  readonly sender: string;
  readonly messageId: string;
  /** Flows take turns, so a sender's one-time password does not wait for its campaign. */
  readonly flow: number;
  /** Segments of it were sent before: the rest goes ahead of messages of its flow that were not begun. */
  readonly isBegun: boolean;
  readonly segments: number;
  /** In how many submit_sm its segments are sent. */
  readonly submits: number;
  /** Milliseconds left of the delivery window. */
  readonly remainingMs: number;
  readonly signal: AbortSignal;
}

/** A message that would have to wait in line for longer than this asks again later instead. */
export const IN_LINE_MS = 2_000;

/** While less than this is in line, any message may join: those that have booked the time are late, or came to another process. */
const DRY_MS = 500;

export interface SenderRate {
  readonly perSecond: number;
  /** This process's part of the rate at present, from 0 to 1; absent: the whole rate. */
  readonly part?: () => number;
  /** A time at which every sender may have sent a segment that was not counted here, on the monotonic clock. */
  readonly usedAtMs?: number;
}

export function createSenderPace(
  clock: Clock,
  random: () => number,
  { perSecond, part = () => 1, usedAtMs = Number.NEGATIVE_INFINITY }: SenderRate,
): SenderPace {
  const rate = ratePart(perSecond, part);
  const segmentMs = () => 1000 / rate();
  const lineOf = createLines(() => createSenderLine(clock, rate, usedAtMs + segmentMs()));
  const bookings = createSenderBookings(clock, random, perSecond);

  return {
    turn(asked) {
      const line = lineOf(asked.sender);
      const isKnown = asked.isBegun || bookings.has(asked.messageId);
      const aheadMs = line.aheadMs(asked);
      const hasRoom = isKnown || aheadMs <= DRY_MS;
      const bookedMs = hasRoom ? 0 : bookings.untilMs(asked);
      if (aheadMs >= asked.remainingMs) return { retryAfterMs: Math.ceil(aheadMs) };
      if (Math.max(aheadMs, bookedMs) > IN_LINE_MS) {
        const flows = line.sharing(asked.flow);
        const againMs = isKnown ? aheadMs - EARLY_MS : bookings.book(asked, { aheadMs, flows });
        return { retryAfterMs: Math.ceil(againMs) };
      }
      bookings.end(asked.messageId);
      return line.join(asked);
    },
    segmentMs,
  };
}

/** The rate to compute with. While this process has no part, and sends nothing, it is that of its last part, to go on at once. */
function ratePart(perSecond: number, part: () => number): () => number {
  let last = 1;
  return () => {
    last = part() || last;
    return perSecond * last;
  };
}

/** The lines of the senders that were used lately. */
function createLines(create: () => SenderLine): (sender: string) => SenderLine {
  /** In the order of last use. */
  const lines = new Map<string, SenderLine>();
  return (sender) => {
    const line = lines.get(sender) ?? create();
    lines.delete(sender);
    for (const [name, other] of lines) {
      if (!other.isIdle()) break;
      lines.delete(name);
    }
    lines.set(sender, line);
    return line;
  };
}
