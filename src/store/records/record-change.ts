import { isDeepStrictEqual } from "node:util";

/** Whether a record was written: what was refused, or found nothing, is not worth that everybody reads all anew. */
export function hasChanged(done: unknown): boolean {
  if (done === undefined || done === false || done === "in_use") return false;
  return typeof done !== "object" || done === null || !("conflict" in done || "overtakenBy" in done);
}

/**
 * Whether a record still is what somebody read. Both are compared opened: what is sealed is never twice the same.
 *
 * @param now as it was just found
 */
export function isStill(read: object, now: object): boolean {
  // As it would come back: fields that are `undefined` are absent, at any depth.
  return isDeepStrictEqual(JSON.parse(JSON.stringify(read)), now);
}
