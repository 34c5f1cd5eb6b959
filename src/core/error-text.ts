/** What an error says, or whatever else was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
