/** Receives what is left of a refused request before its connection is closed. */
import type { Clock } from "../../core/clock.ts";

/** How long the rest of a body is waited for. */
const PATIENCE_MS = 5_000;

/**
 * Resolves when all of the body has come and was dropped, or after 5 s. A connection that is closed while its client still
 * sends is reset, and many clients then never see the answer. Where the connection stays open, the listener drops the body
 * itself, after the answer.
 */
export async function dropBody({ body }: Request, clock: Clock): Promise<void> {
  if (!body || body.locked) return;
  const reader = body.getReader();
  const giveUp = () => void reader.cancel().catch(() => {});
  const stopWaiting = clock.after(PATIENCE_MS, giveUp);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The client has gone.
  } finally {
    stopWaiting();
  }
}

/** Whether the client wants the connection closed after the answer, as simple clients and many proxies do. */
export function isLastRequest({ headers }: Request): boolean {
  return /\bclose\b/i.test(headers.get("connection") ?? "");
}
