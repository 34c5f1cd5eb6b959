import type { Clock } from "../clock.ts";

/** What the promise settles with, or what `late` returns or throws once `limitMs` are over. The promise itself goes on. */
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
