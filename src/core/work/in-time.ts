import type { Clock } from "../clock.ts";

/** Settles as the promise does or, after `limitMs`, with what `late` returns or throws. The work behind the promise goes on. */
export function inTime<Value, Late = Value>(
  clock: Pick<Clock, "after">,
  { limitMs, late }: { readonly limitMs: number; readonly late: () => Late },
  promise: Promise<Value>,
): Promise<Value | Late> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    });
    promise.then(resolve, reject).finally(cancel);
  });
}
