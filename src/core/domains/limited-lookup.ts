import type { Clock } from "../clock.ts";
import { inTime } from "../work/in-time.ts";

/** An answer of the DNS, or a failure with the code that Node gives when no server answers, once `limitMs` are over. */
export function limitedLookup<Answer>(
  clock: Pick<Clock, "after">,
  limitMs: number,
  answer: Promise<Answer>,
): Promise<Answer> {
  const late = (): never => {
    throw Object.assign(new Error("timeout"), { code: "ETIMEOUT" });
  };
  return inTime(clock, { limitMs, late }, answer);
}
