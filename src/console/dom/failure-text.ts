import { Failure } from "../client.ts";

/** What went wrong, in a sentence for people. */
export function failureText(error: unknown): string {
  if (!(error instanceof Failure)) return `The console itself has failed: ${String(error)}`;
  if (error.status === 0) return "No answer from Postrider: it is not running, or the connection is down.";
  if (error.status === 404) return "It does not exist, or no longer.";
  if (error.status === 503) return "Postrider or its database is unavailable at the moment.";
  const details = Object.entries(error.details).map(([field, text]) =>
    // Of the record as a whole.
    field === "id" ? text : `${field} ${text}`,
  );
  return [capitalized(error.message), details.join("; ")].filter(Boolean).join(": ");
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
