import { type Clock, sleep } from "../../../core/clock.ts";
import type { AcceptRequest, AcceptResult } from "../../../core/messages/accept-request.ts";
import type { Intake } from "../../store.ts";

/** How long a request waits for another process that is taking its key. */
const WAIT_MS = 30_000;

/** The pause between two tries, during which no connection is occupied. */
const STEP_MS = 500;

interface Tries {
  readonly clock: Clock;
  readonly first: (request: AcceptRequest) => Promise<AcceptResult>;
  /** Tries again without waiting for the key. */
  readonly again: (request: AcceptRequest) => Promise<AcceptResult>;
}

/** `Intake.accept`: repeats a request whose key another process holds, until that has committed or rolled back. */
export function untilTaken({ clock, first, again }: Tries): Intake["accept"] {
  const isHeld = ({ kind }: AcceptResult) => kind === "in_progress";
  return (request) =>
    request.idempotency
      ? first(request).then((result) => whileHeld(clock, result, { isHeld, again: () => again(request) }))
      : first(request);
}

/** `Intake.savedAnswer`: asks again while another process holds the key. */
export function untilAnswered(clock: Clock, ask: Intake["savedAnswer"]): Intake["savedAnswer"] {
  const isHeld = (answer: Awaited<ReturnType<typeof ask>>) => answer === "in_progress";
  return async (key) => whileHeld(clock, await ask(key), { isHeld, again: () => ask(key) });
}

interface Repetition<Result> {
  isHeld(result: Result): boolean;
  again(): Promise<Result>;
}

async function whileHeld<Result>(
  clock: Clock,
  first: Result,
  { isHeld, again }: Repetition<Result>,
): Promise<Result> {
  const endMs = clock.monotonicMs() + WAIT_MS;
  let result = first;
  while (isHeld(result) && clock.monotonicMs() < endMs) {
    await sleep(clock, STEP_MS);
    result = await again();
  }
  return result;
}
