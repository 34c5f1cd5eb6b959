/** A value that is known already, or is being read. So a cached value costs no turn of the microtask queue. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Calls `use` with the value, at once if it is known already. In hot places `use` should not close over variables of its
 * caller: the closure would be allocated even in calls that wait for nothing.
 */
export function whenReady<T, Result>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
