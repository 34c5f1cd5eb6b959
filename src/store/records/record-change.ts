import { isDeepStrictEqual } from "node:util";

/** Whether an operation on a record has written something, so that caches have to be read again. */
export function hasChanged(done: unknown): boolean {
  if (done === undefined || done === false || done === "in_use") return false;
  return typeof done !== "object" || done === null || !("conflict" in done || "overtakenBy" in done);
}

/**
 * Whether a record is still what the caller read. Sealed values are compared opened, since sealing one twice gives two texts.
 *
 * @param now the record as it is stored now
 */
export function isStill(read: object, now: object): boolean {
  // Without `undefined` fields at any depth, as the record would be read from the store.
  return isDeepStrictEqual(JSON.parse(JSON.stringify(read)), now);
}
