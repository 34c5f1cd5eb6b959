/** A value that is there already, or is being read: what is cached is not worth a turn of the microtask queue. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * `use` of a value as soon as it is there: at once where it is. `use` is to be a function that is there already: a closure
 * that sees variables costs every call the room for them, also where nothing is waited for.
 */
export function whenReady<T, Result>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
