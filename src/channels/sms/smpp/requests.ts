import type { Clock } from "../../../core/clock.ts";
import { COMMAND, type Pdu, responseTo } from "./pdu.ts";

/** What became of a request we sent. */
export type Answer =
  | { readonly kind: "answered"; readonly pdu: Pdu }
  /** The time limit passed first. */
  | { readonly kind: "silent" }
  /** The session ended first. */
  | { readonly kind: "lost"; readonly reason: string };

/** The requests of one session that wait for their answers. Each ends, by its time limit at the latest. */
export interface Requests {
  /** @param onLate called when the answer comes after its limit, unless too much has happened since */
  begin(
    commandId: number,
    limitMs: number,
    onLate?: (pdu: Pdu) => void,
  ): { readonly sequence: number; readonly answer: Promise<Answer> };
  /** Hands a response to its request. False if none waits for it: it came too late, or was never asked for. */
  answer(pdu: Pdu): boolean;
  /** Ends all of them, and those begun later, as lost. */
  lose(reason: string): void;
}

/** Highest sequence_number (§5.1.4); 1 follows. */
const MAX_SEQUENCE = 0x7fffffff;

/** Requests out of time whose answer is still listened for; the oldest are forgotten first. */
const MAX_OVERDUE = 10_000;

interface Waiting {
  readonly responseId: number;
  readonly endsAtMs: number;
  readonly onLate: ((pdu: Pdu) => void) | undefined;
  readonly resolve: (answer: Answer) => void;
}

interface Overdue {
  readonly responseId: number;
  readonly onLate: (pdu: Pdu) => void;
}

export function createRequests(clock: Clock, firstSequence = 1): Requests {
  const waiting = new Map<number, Waiting>();
  const overdue = new Map<number, Overdue>();
  let next = firstSequence;
  let lost: Answer | undefined;
  const alarm = createAlarm(clock, () => giveUp());

  const takeSequence = () => {
    // After a turn of the counter an old request may still hold a number.
    while (waiting.has(next) || overdue.has(next)) next = next === MAX_SEQUENCE ? 1 : next + 1;
    const sequence = next;
    next = sequence === MAX_SEQUENCE ? 1 : sequence + 1;
    return sequence;
  };

  const end = (sequence: number, request: Waiting, answer: Answer) => {
    waiting.delete(sequence);
    if (waiting.size === 0) alarm.cancel();
    request.resolve(answer);
  };

  /** Ends those whose time is up. */
  const giveUp = () => {
    const nowMs = clock.monotonicMs();
    for (const [sequence, request] of [...waiting]) {
      const { responseId, endsAtMs, onLate } = request;
      if (endsAtMs > nowMs) alarm.setFor(endsAtMs);
      else {
        end(sequence, request, { kind: "silent" });
        if (onLate) remember(overdue, sequence, { responseId, onLate });
      }
    }
  };

  return {
    begin(commandId, limitMs, onLate) {
      const sequence = takeSequence();
      const responseId = responseTo(commandId);
      if (lost) return { sequence, answer: Promise.resolve(lost) };
      const endsAtMs = clock.monotonicMs() + limitMs;
      const { promise: answer, resolve } = Promise.withResolvers<Answer>();
      waiting.set(sequence, { responseId, endsAtMs, onLate, resolve });
      alarm.setFor(endsAtMs);
      return { sequence, answer };
    },
    answer(pdu) {
      const request = waiting.get(pdu.sequence);
      if (!request) return answerLate(overdue, pdu);
      if (pdu.commandId !== request.responseId && pdu.commandId !== COMMAND.genericNack) return false;
      end(pdu.sequence, request, { kind: "answered", pdu });
      return true;
    },
    lose(reason) {
      lost = { kind: "lost", reason };
      overdue.clear();
      for (const [sequence, request] of [...waiting]) end(sequence, request, lost);
    },
  };
}

/** One timer for all that wait: it rings at the earliest time it was set for. */
function createAlarm(clock: Clock, ring: () => void) {
  let set: { readonly atMs: number; readonly cancel: () => void } | undefined;
  const cancel = () => {
    set?.cancel();
    set = undefined;
  };
  return {
    setFor(atMs: number): void {
      if (set && set.atMs <= atMs) return;
      cancel();
      const cancelTimer = clock.after(atMs - clock.monotonicMs(), () => {
        set = undefined;
        ring();
      });
      set = { atMs, cancel: cancelTimer };
    },
    cancel,
  };
}

function remember(overdue: Map<number, Overdue>, sequence: number, request: Overdue): void {
  overdue.set(sequence, request);
  const [oldest] = overdue.keys();
  if (overdue.size > MAX_OVERDUE && oldest !== undefined) overdue.delete(oldest);
}

function answerLate(overdue: Map<number, Overdue>, pdu: Pdu): boolean {
  const request = overdue.get(pdu.sequence);
  if (pdu.commandId !== request?.responseId) return false;
  overdue.delete(pdu.sequence);
  request.onLate(pdu);
  return true;
}
