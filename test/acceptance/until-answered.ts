import { until } from "../until.ts";
import type { RunningApi } from "./running-api.ts";

/** Lets time pass until so many requests have their answer: the rest of a body that is refused is waited for a few seconds. */
export async function untilAnswered(api: RunningApi, count: number): Promise<void> {
  const look = async () => {
    if (api.observed.length < count) await api.clock.advance(STEP_MS);
    return api.observed.length >= count;
  };
  await until(look, Boolean, { pauseMs: PAUSE_MS });
}

/** So short that no body that is read is given up meanwhile, which it is after half a minute: */
const STEP_MS = 100;

/** three seconds of real time, of which the refusals take a sixth. */
const PAUSE_MS = 10;
