/** Receives what is left of a request that is answered before all of its body has come, or without it. */
import { type Clock, sleep } from "../../core/clock.ts";
import type { MaybePromise } from "../when-ready.ts";

/** How long to wait for more of a body, */
const PATIENCE_MS = 5_000;

/** and how often: half a minute in all, the time that a body has which is read. */
const MOST_WAITS = 6;

/** How long a body may take to come that the listener drops by itself, unseen. Few clients send one with a GET. */
const UNSEEN_MS = 200;

/**
 * Reads and drops the rest of the body. Resolves with false if some of it may still come: because nothing came for 5 to 10 s, because it took
 * half a minute, or because the listener shows no body of such a request (a GET). The answer has to be the last on its
 * connection then. A proxy might otherwise use the connection for somebody else's request, which would be taken for the rest of
 * this one, as HAProxy 2.6 does for clients of HTTP/2. And not before the body has come: closing a connection resets it while its
 * client still sends, and many clients then never see the answer.
 */
export function dropBody(request: Request, clock: Clock): MaybePromise<boolean> {
  const { body } = request;
  if (!body) return !announcesBody(request) || sleep(clock, UNSEEN_MS).then(() => false);
  // Whoever reads it waits for its end, or closes the connection.
  return body.locked || dropAll(body, clock);
}

async function dropAll(body: ReadableStream, clock: Clock): Promise<boolean> {
  const reader = body.getReader();
  let hasEnded = true;
  const patience = openPatience(clock, () => {
    hasEnded = false;
    reader.cancel().catch(() => {});
  });
  try {
    while (!(await reader.read()).done) patience.renew();
  } catch {
    // The client has gone.
  } finally {
    patience.end();
  }
  return hasEnded;
}

function announcesBody({ headers }: Request): boolean {
  const length = headers.get("content-length");
  return headers.has("transfer-encoding") || (length !== null && length !== "0");
}

/** Calls `giveUp` once it was not renewed for `PATIENCE_MS`, and after so many waits in any case. */
function openPatience(
  clock: Clock,
  giveUp: () => void,
): { readonly renew: () => void; readonly end: () => void } {
  let isRenewed = false;
  let waits = 0;
  let end = () => {};
  const wait = () => {
    isRenewed = false;
    end = clock.after(PATIENCE_MS, () => (isRenewed && ++waits < MOST_WAITS ? wait() : giveUp()));
  };
  wait();
  return {
    renew: () => {
      isRenewed = true;
    },
    end: () => end(),
  };
}
