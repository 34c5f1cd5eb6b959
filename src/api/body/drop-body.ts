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
 * How many bodies are waited for that long at a time. Others have `UNSEEN_MS`: clients without a key, whose bodies do not come, would
 * otherwise use up the ways by which a listener thread forwards requests.
 */
const MOST_AWAITED = 64;

/**
 * Reads and drops the rest of the body. Resolves with false if some of it may still come: because nothing came for 5 to 10 s, because it took
 * half a minute, because many others are waited for, or because the listener shows no body of such a request (a GET). The answer has to be
 * the last on its connection then. A proxy might otherwise use the connection for somebody else's request, which would be taken for the rest
 * of this one, as HAProxy 2.6 does for clients of HTTP/2. And not before the body has come: closing a connection resets it while its
 * client still sends, and many clients then never see the answer.
 */
export type DropBody = (request: Request) => MaybePromise<boolean>;

export function createDropBody(clock: Clock): DropBody {
  let awaited = 0;
  const dropAll = async (body: ReadableStream): Promise<boolean> => {
    const reader = body.getReader();
    let hasEnded = true;
    const giveUp = () => {
      hasEnded = false;
      reader.cancel().catch(() => {});
    };
    const patience = openPatience(clock, awaited++ < MOST_AWAITED ? PATIENT : HURRIED, giveUp);
    try {
      while (!(await reader.read()).done) patience.renew();
    } catch {
      // The client has gone.
    } finally {
      awaited--;
      patience.end();
    }
    return hasEnded;
  };
  return (request) => {
    const { body } = request;
    if (!body) return !announcesBody(request) || sleep(clock, UNSEEN_MS).then(() => false);
    // Whoever reads it waits for its end, or closes the connection.
    return body.locked || dropAll(body);
  };
}

function announcesBody({ headers }: Request): boolean {
  const length = headers.get("content-length");
  return headers.has("transfer-encoding") || (length !== null && length !== "0");
}

/** How long each wait takes, and how many there are at most. */
interface Waits {
  readonly ms: number;
  readonly most: number;
}

const PATIENT: Waits = { ms: PATIENCE_MS, most: MOST_WAITS };
const HURRIED: Waits = { ms: UNSEEN_MS, most: 1 };

/** Calls `giveUp` once it was not renewed during a wait, and after the last wait in any case. */
function openPatience(
  clock: Clock,
  { ms, most }: Waits,
  giveUp: () => void,
): { readonly renew: () => void; readonly end: () => void } {
  let isRenewed = false;
  let waits = 0;
  let end = () => {};
  const wait = () => {
    isRenewed = false;
    end = clock.after(ms, () => (isRenewed && ++waits < most ? wait() : giveUp()));
  };
  wait();
  return {
    renew: () => {
      isRenewed = true;
    },
    end: () => end(),
  };
}
