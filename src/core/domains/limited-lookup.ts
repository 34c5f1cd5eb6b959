import type { Clock } from "../clock.ts";
import { inTime } from "../work/in-time.ts";

/** Settles as the DNS answer does, or fails after `limitMs`, with the code that Node uses if no server answers. */
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
