import type { Clock } from "../../../../core/clock.ts";
import { remember } from "../../../../core/work/remember.ts";
import { createPutOffCount, type PutOffCount } from "./put-off-count.ts";
import type { AskedTurn } from "./sender-pace.ts";

/** Times at which messages may be sent that would have to stand in their sender's line for too long. */
export interface SenderBookings {
  /** Puts a message off, behind those of its flow that were put off before. Returns the milliseconds until it should ask again. */
  book(asked: AskedTurn, line: LineAhead): number;
  /** Whether the message has a booking that has not lapsed. */
  has(messageId: string): boolean;
  /** For how many milliseconds the times of its sender and flow are booked; 0 or less: not at all. */
  untilMs(asked: AskedTurn): number;
  /** Ends the message's booking: it joins the line now. */
  end(messageId: string): void;
}

interface LineAhead {
  /** Milliseconds until a message that joined the line now would begin. */
  readonly aheadMs: number;
  /** How many flows share the sender's rate. */
  readonly flows: number;
}

/** How long before its booked time a message comes back, to stand in line meanwhile. */
export const EARLY_MS = 1_000;

/** How far ahead times can be booked. A message that gets none asks again after at least this long. */
const HORIZON_MS = 30_000;

/**
 * Asking costs a claim, so a message asks again after a sixth to a third of the time that it takes to send all messages that were
 * put off. Then about four times as many ask as can be sent, however many they are: enough to use the whole rate.
 */
const ASKS_AFTER = 1 / 6;

/** A message asks again after at most twice this long: the rate may be raised meanwhile, or other messages cancelled. */
const MAX_PAUSE_MS = 900_000;

/** A message asks again after at most twice this part of its window. */
const PART_OF_WINDOW = 1 / 8;

/** The most bookings that are kept. A message whose booking is not kept only has to wait once more. */
const MAX_BOOKINGS = 10_000;

/** The most flows of senders whose messages are counted. Messages of other flows ask more often. */
const MAX_COUNTED_FLOWS = 1_000;

/** How long after its time an unused booking lapses. */
const LAPSE_MS = 60_000;

/** @param perSecond each sender's rate, over all processes: a message that asks again may ask another one */
export function createSenderBookings(clock: Clock, random: () => number, perSecond: number): SenderBookings {
  /** Until when times are booked, by sender and flow, in the order of last use. */
  const bookedUntil = new Map<string, number>();
  /** The booked time of each message, in the order of booking. */
  const bookings = new Map<string, number>();
  /** The counts of messages for which no time was left, by sender and flow, in the order of last use. */
  const putOff = new Map<string, PutOffCount>();
  const takesMs = (segments: number, flows: number) => (segments / perSecond) * 1000 * flows;

  const askAgainMs = (asked: AskedTurn, flows: number) => {
    const name = flowName(asked);
    const count = putOff.get(name) ?? createPutOffCount(clock);
    remember(putOff, [name, count], MAX_COUNTED_FLOWS);
    const wanted = takesMs(count.now(), flows) * ASKS_AFTER;
    const most = Math.min(MAX_PAUSE_MS, asked.remainingMs * PART_OF_WINDOW);
    const pauseMs = Math.max(HORIZON_MS, Math.min(wanted, most)) * (1 + random());
    count.add(asked.segments, pauseMs);
    return pauseMs;
  };

  return {
    book(asked, { aheadMs, flows }) {
      const now = clock.monotonicMs();
      const name = flowName(asked);
      const at = Math.max(bookedUntil.get(name) ?? 0, now + aheadMs);
      if (at - now > HORIZON_MS) return askAgainMs(asked, flows);
      forgetPassed(bookedUntil, now);
      bookedUntil.delete(name);
      bookedUntil.set(name, at + takesMs(asked.segments, flows));
      forgetPassed(bookings, now - LAPSE_MS);
      if (bookings.size < MAX_BOOKINGS) bookings.set(asked.messageId, at);
      return at - now - EARLY_MS;
    },
    has: (messageId) =>
      (bookings.get(messageId) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs() - LAPSE_MS,
    untilMs: (asked) => (bookedUntil.get(flowName(asked)) ?? 0) - clock.monotonicMs(),
    end: (messageId) => void bookings.delete(messageId),
  };
}

function flowName({ flow, sender }: AskedTurn): string {
  return `${flow} ${sender}`;
}

/** Drops entries up to `limit`, oldest first. It stops at the first later entry, so a few may stay for a while. */
function forgetPassed(times: Map<string, number>, limit: number): void {
  for (const [name, at] of times) {
    if (at > limit) return;
    times.delete(name);
  }
}
