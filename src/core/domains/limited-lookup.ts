import type { Clock } from "../clock.ts";

/** An answer of the DNS, or a failure with the code that Node gives when no server answers, once `limitMs` are over. */
export async function limitedLookup<Answer>(
  clock: Pick<Clock, "after">,
  limitMs: number,
  answer: Promise<Answer>,
): Promise<Answer> {
  let stop: (() => void) | undefined;
  const timeout = new Promise<never>((_, reject) => {
    stop = clock.after(limitMs, () => reject(Object.assign(new Error("timeout"), { code: "ETIMEOUT" })));
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    stop?.();
  }
}
