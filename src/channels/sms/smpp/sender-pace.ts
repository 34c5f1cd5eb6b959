import type { Clock } from "../../../core/clock.ts";
import { createSenderLine, type SenderLine } from "./sender-line.ts";

/** Keeps each sender to its rate, in segments a second, without holding up the others. */
export interface SenderPace {
  /**
   * A message's turn. `HeldTurn`: its first segment may go now. A promise resolves when it may, within `LONGEST_IN_LINE_MS`, or
   * with a time. A number: it is to ask again after so many milliseconds, and keeps no slot meanwhile.
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

export type Turn = HeldTurn | number;

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

/** Who would wait longer than this in line asks again instead. */
export const IN_LINE_MS = 2_000;

/** How far ahead times are booked. Beyond it, a message asks again after once to twice this long. */
const HORIZON_MS = 30_000;

/** With less than this in line, whoever comes may join: those with bookings have not come back, or to another process. */
const DRY_MS = 500;

/** Bookings kept at a time. A message whose booking was not kept only has to wait once more. */
const MAX_BOOKINGS = 10_000;

/** How long after its time a booking that was not used is given up. */
const LAPSE_MS = 60_000;

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
  const costMs = (segments: number) => (segments / rate()) * 1000;
  const lineOf = createLines(() => createSenderLine(clock, rate, usedAtMs + costMs(1)));
  /** Until when times are booked, by sender and flow; in the order of last use. */
  const bookedUntil = new Map<string, number>();
  /** When each message that was put off is to go; in the order booked. */
  const bookings = new Map<string, number>();

  /** Puts a message off behind those of its flow that were put off before. */
  const book = ({ sender, flow, messageId, segments }: AskedTurn, aheadMs: number): number => {
    const now = clock.monotonicMs();
    const flows = lineOf(sender).sharing(flow);
    const name = `${flow} ${sender}`;
    const at = Math.max(bookedUntil.get(name) ?? 0, now + aheadMs);
    if (at - now > HORIZON_MS) return HORIZON_MS * (1 + random());
    forgetPassed(bookedUntil, now);
    bookedUntil.delete(name);
    // At the whole rate, as the queue moves: who comes again may come to another process.
    bookedUntil.set(name, at + (segments / perSecond) * 1000 * flows);
    forgetPassed(bookings, now - LAPSE_MS);
    if (bookings.size < MAX_BOOKINGS) bookings.set(messageId, at);
    return at - now - IN_LINE_MS / 2;
  };

  return {
    turn(asked) {
      const { sender, flow, messageId, remainingMs, isBegun } = asked;
      const now = clock.monotonicMs();
      const line = lineOf(sender);
      const bookedFor = bookings.get(messageId);
      const isKnown = isBegun || (bookedFor !== undefined && bookedFor > now - LAPSE_MS);
      const aheadMs = line.aheadMs(asked);
      const hasRoom = isKnown || aheadMs <= DRY_MS;
      const bookedMs = hasRoom ? 0 : (bookedUntil.get(`${flow} ${sender}`) ?? 0) - now;
      if (aheadMs >= remainingMs) return Math.ceil(aheadMs);
      if (Math.max(aheadMs, bookedMs) > IN_LINE_MS)
        return Math.ceil(isKnown ? aheadMs - IN_LINE_MS / 2 : book(asked, aheadMs));
      bookings.delete(messageId);
      return line.join(asked);
    },
    segmentMs: () => costMs(1),
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

/** Forgets entries up to `limit`, from the oldest on. It stops at the first that is later, so a few may stay for a while. */
function forgetPassed(times: Map<string, number>, limit: number): void {
  for (const [name, at] of times) {
    if (at > limit) return;
    times.delete(name);
  }
}
