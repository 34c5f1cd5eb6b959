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
  begin(commandId: number, limitMs: number): { readonly sequence: number; readonly answer: Promise<Answer> };
  /** Hands a response to its request. False if none waits for it: it came too late, or was never asked for. */
  answer(pdu: Pdu): boolean;
  /** Ends all of them, and those begun later, as lost. */
  lose(reason: string): void;
}

/** Highest sequence_number (§5.1.4); 1 follows. */
const MAX_SEQUENCE = 0x7fffffff;

interface Waiting {
  readonly responseId: number;
  readonly end: (answer: Answer) => void;
}

export function createRequests(clock: Clock, firstSequence = 1): Requests {
  const waiting = new Map<number, Waiting>();
  let next = firstSequence;
  let lost: Answer | undefined;

  const takeSequence = () => {
    // After a turn of the counter an old request may still hold a number.
    while (waiting.has(next)) next = next === MAX_SEQUENCE ? 1 : next + 1;
    const sequence = next;
    next = sequence === MAX_SEQUENCE ? 1 : sequence + 1;
    return sequence;
  };

  return {
    begin(commandId, limitMs) {
      const sequence = takeSequence();
      if (lost) return { sequence, answer: Promise.resolve(lost) };
      const answer = new Promise<Answer>((resolve) => {
        const cancel = clock.after(limitMs, () => end({ kind: "silent" }));
        const end = (outcome: Answer) => {
          cancel();
          waiting.delete(sequence);
          resolve(outcome);
        };
        waiting.set(sequence, { responseId: responseTo(commandId), end });
      });
      return { sequence, answer };
    },
    answer(pdu) {
      const request = waiting.get(pdu.sequence);
      if (!request) return false;
      if (pdu.commandId !== request.responseId && pdu.commandId !== COMMAND.genericNack) return false;
      request.end({ kind: "answered", pdu });
      return true;
    },
    lose(reason) {
      lost = { kind: "lost", reason };
      for (const request of [...waiting.values()]) request.end(lost);
    },
  };
}
