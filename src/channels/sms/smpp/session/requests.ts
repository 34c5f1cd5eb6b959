import type { Clock } from "../../../../core/clock.ts";
import { remember } from "../../../../core/work/remember.ts";
import { COMMAND, type Pdu, responseTo } from "../wire/pdu.ts";

/** What became of a request that we sent. */
export type Answer =
  | { readonly kind: "answered"; readonly pdu: Pdu }
  /** The time limit passed first. */
  | { readonly kind: "silent" }
  /** The session ended first. */
  | { readonly kind: "lost"; readonly reason: string };

/** The requests of one session that wait for an answer, each for its time limit at most. */
export interface Requests {
  /** @param onLate called if the answer comes after the limit, unless the request is so old that it has been forgotten */
  begin(
    commandId: number,
    limitMs: number,
    onLate?: (pdu: Pdu) => void,
  ): { readonly sequence: number; readonly answer: Promise<Answer> };
  /** Hands a response to its request, even if it is late. False if it answers no known request. */
  answer(pdu: Pdu): boolean;
  /** Ends all requests, and those begun later, as lost. */
  lose(reason: string): void;
}

/** The highest sequence_number (§5.1.4). After it comes 1. */
const MAX_SEQUENCE = 0x7fffffff;

/** How many requests past their limit are remembered for a late answer. The oldest are forgotten first. */
const MAX_LATE = 10_000;

interface Waiting {
  readonly responseId: number;
  readonly endsAtMs: number;
  readonly onLate: ((pdu: Pdu) => void) | undefined;
  readonly resolve: (answer: Answer) => void;
}

/** A request past its limit whose answer, if it comes, still counts. */
interface Late {
  readonly responseId: number;
  readonly onLate: (pdu: Pdu) => void;
}

interface Sequences {
  readonly first?: number | undefined;
  readonly last?: number;
}

/** @param sequences for tests; absent: all numbers, from 1 on */
export function createRequests(clock: Clock, sequences: Sequences = {}): Requests {
  const waiting = new Map<number, Waiting>();
  const late = new Map<number, Late>();
  let lost: Answer | undefined;
  const timer = createTimer(clock, () => giveUp());
  // After the counter has wrapped, an old request may still have a number.
  const takeSequence = createCounter(sequences, (number) => waiting.has(number) || late.has(number));

  const end = (sequence: number, { resolve }: Waiting, answer: Answer) => {
    if (waiting.delete(sequence) && waiting.size === 0) timer.cancel();
    resolve(answer);
  };

  /** Ends the requests whose time is up. */
  const giveUp = () => {
    const nowMs = clock.monotonicMs();
    for (const [sequence, request] of [...waiting]) {
      if (request.endsAtMs > nowMs) timer.setFor(request.endsAtMs);
      else {
        end(sequence, request, { kind: "silent" });
        const { responseId, onLate } = request;
        if (onLate) remember(late, [sequence, { responseId, onLate }], MAX_LATE);
      }
    }
  };

  return {
    begin(commandId, limitMs, onLate) {
      const sequence = takeSequence();
      if (lost) return { sequence, answer: Promise.resolve(lost) };
      const endsAtMs = clock.monotonicMs() + limitMs;
      const { promise: answer, resolve } = Promise.withResolvers<Answer>();
      waiting.set(sequence, { responseId: responseTo(commandId), endsAtMs, onLate, resolve });
      timer.setFor(endsAtMs);
      return { sequence, answer };
    },
    answer(pdu) {
      const request = waiting.get(pdu.sequence);
      if (!request) return answerLate(late, pdu);
      if (pdu.commandId !== request.responseId && pdu.commandId !== COMMAND.genericNack) return false;
      end(pdu.sequence, request, { kind: "answered", pdu });
      return true;
    },
    lose(reason) {
      lost = { kind: "lost", reason };
      late.clear();
      for (const [sequence, request] of [...waiting]) end(sequence, request, lost);
    },
  };
}

function createCounter(
  { first = 1, last = MAX_SEQUENCE }: Sequences,
  isTaken: (number: number) => boolean,
): () => number {
  const after = (number: number) => (number === last ? 1 : number + 1);
  let next = first;
  return () => {
    while (isTaken(next)) next = after(next);
    const number = next;
    next = after(number);
    return number;
  };
}

/** One timer for all requests. It rings at the earliest of the times that it was set for. */
function createTimer(clock: Clock, ring: () => void) {
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

function answerLate(late: Map<number, Late>, pdu: Pdu): boolean {
  const request = late.get(pdu.sequence);
  if (pdu.commandId !== request?.responseId) return false;
  late.delete(pdu.sequence);
  request.onLate(pdu);
  return true;
}
