import type { AnswerRequest } from "../../api/app-deps.ts";
import { unavailableResponse } from "../../api/unavailable.ts";
import type { Clock } from "../../core/clock.ts";
import { inTime } from "../../core/work/in-time.ts";

/** How long a request waits for a start. What follows the binding of the port takes a small part of that. */
const HOLD_MS = 5_000;

/** Holds requests until it is opened, so that the port can be bound before all parts are ready. What it cannot hold is answered 503. */
export function createGate(clock: Pick<Clock, "after">, ids: () => string) {
  let open: AnswerRequest | undefined;
  const opened = Promise.withResolvers<AnswerRequest | undefined>();
  const hold: AnswerRequest = async (request, addressOf) => {
    const fetch = await inTime(clock, { limitMs: HOLD_MS, late: () => undefined }, opened.promise);
    return fetch ? fetch(request, addressOf) : unavailableResponse(request, ids());
  };
  return {
    fetch: ((request, addressOf) => (open ?? hold)(request, addressOf)) satisfies AnswerRequest,
    open(fetch: AnswerRequest) {
      open = fetch;
      opened.resolve(fetch);
    },
    /** Turns away whom it holds, and who comes before it is opened, which it may never be. */
    giveUp: () => opened.resolve(undefined),
  };
}
