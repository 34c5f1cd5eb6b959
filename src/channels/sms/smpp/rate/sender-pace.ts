import type { Clock } from "../../../../core/clock.ts";
import { createSenderBookings, EARLY_MS } from "./sender-bookings.ts";
import { createSenderLine, type SenderLine } from "./sender-line.ts";

/** Keeps each sender to its rate, in segments a second, without holding up the others. */
export interface SenderPace {
  /**
   * A message's turn: its first segment may go now, or is to ask again. A promise resolves with either, within
   * `LONGEST_IN_LINE_MS`: the message waits in line until then.
   */
  turn(asked: AskedTurn): Turn | Promise<Turn>;
  /** Milliseconds that a segment takes. */
  segmentMs(): number;
}

/** Of a message whose segment may go. Nothing else of its sender goes until that has gone, or the turn ends. */
export interface HeldTurn {
  /** The segment goes now, and is counted. */
  gone(): void;
  /** Resolves when the next segment may go. False: it may not within so many milliseconds, or the message was called off. */
  next(limitMs: number): Promise<boolean>;
  /** To be called at the end, also where segments have not gone. */
  end(): void;
  /** Milliseconds from each of its segments to the next, about: other flows take turns with it. */
  intervalMs(): number;
}

/** The message is to ask again after so many milliseconds, and keeps no slot meanwhile. */
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
  /** Messages of one flow take turns with those of each other: a sender's one-time password does not wait for its campaign. */
  readonly flow: number;
  /** Segments of it were sent before: what is left goes before messages of its flow that were not begun. */
  readonly isBegun: boolean;
  readonly segments: number;
  /** In how many submit_sm they go. */
  readonly submits: number;
  /** Milliseconds left of the delivery window. */
  readonly remainingMs: number;
  readonly signal: AbortSignal;
}

/** A message that would wait in line for longer than this asks again later instead. */
export const IN_LINE_MS = 2_000;

/** While less than this is in line any message may join: those that have booked the time come late, or to another process. */
const DRY_MS = 500;

export interface SenderRate {
  readonly perSecond: number;
  /** This process's part of the rate now, from 0 to 1; absent: all. */
  readonly part?: () => number;
  /** When every sender may have sent a segment that was not counted here, on the monotonic clock. */
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

/** While this process has no part it sends nothing. It reckons with what it had, to go on at once when it has one again. */
function ratePart(perSecond: number, part: () => number): () => number {
  let last = 1;
  return () => {
    last = part() || last;
    return perSecond * last;
  };
}

/** The lines of the senders used lately. */
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
