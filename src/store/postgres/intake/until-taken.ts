import { type Clock, sleep } from "../../../core/clock.ts";
import type { AcceptRequest, AcceptResult } from "../../../core/messages/accept-request.ts";
import type { Intake } from "../../store.ts";

/** How long a request waits for another process that is taking its key. */
const WAIT_MS = 30_000;

/** The pause between two tries, during which no connection is occupied. */
const STEP_MS = 500;

export interface Tries {
  readonly clock: Clock;
  readonly first: (request: AcceptRequest) => Promise<AcceptResult>;
  /** Tries again without waiting for the key. */
  readonly again: (request: AcceptRequest) => Promise<AcceptResult>;
}

/** `Intake.accept`: repeats a request whose key another process holds, until that has committed or rolled back. */
export function untilTaken({ clock, first, again }: Tries): Intake["accept"] {
  const retry = async (request: AcceptRequest, held: AcceptResult): Promise<AcceptResult> => {
    const endMs = clock.monotonicMs() + WAIT_MS;
    let result = held;
    while (result.kind === "in_progress" && clock.monotonicMs() < endMs) {
      await sleep(clock, STEP_MS);
      result = await again(request);
    }
    return result;
  };
  return (request) =>
    request.idempotency
      ? first(request).then((result) => (result.kind === "in_progress" ? retry(request, result) : result))
      : first(request);
}
