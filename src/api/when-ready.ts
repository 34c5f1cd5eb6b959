/** A value that is there already, or is being read. A cached value should not cost a turn of the microtask queue. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Calls `use` with the value, at once if it is there already. `use` should not be a closure over variables of its caller:
 * those would be allocated in every call, also in those that wait for nothing.
 */
export function whenReady<T, Result>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
