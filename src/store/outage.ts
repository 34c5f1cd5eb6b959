import { errorText } from "../core/error-text.ts";
import { StoreUnavailable } from "./store.ts";

/** With what the machine said of it: a log has the message alone, and so has another thread. */
export function outage(words: string, cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`${words}: ${said(cause)}`, { cause });
}

function said(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(said).join(", ");
  return errorText(cause);
}
