/**
 * The message of an error, or the text of whatever else was thrown. One that only holds others, as where each address of a host was
 * tried in vain, has no message of its own.
 */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(errorText).join(", ");
  return error instanceof Error ? error.message : String(error);
}
