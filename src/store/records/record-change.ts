/** Whether a record was written: what was refused, or found nothing, is not worth that everybody reads all anew. */
export function hasChanged(done: unknown): boolean {
  if (done === undefined || done === false || done === "in_use") return false;
  return typeof done !== "object" || done === null || !("conflict" in done);
}
