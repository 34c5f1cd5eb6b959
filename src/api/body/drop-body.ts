/** Reads and drops the rest of a refused request before its connection is closed. */
import type { Clock } from "../../core/clock.ts";

/** How long to wait for the rest of a body. */
const PATIENCE_MS = 5_000;

/**
 * Resolves when the whole body has been received and dropped, or after 5 s. Closing a connection resets it while its client
 * still sends, and many clients then never see the answer. On a connection that stays open there is no need: the listener
 * drops the body itself, after the answer.
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
