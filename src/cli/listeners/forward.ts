/**
 * Forwards requests from a listener thread to the main thread, over a Unix socket in a folder that only this user may enter.
 * The main thread sees them with their original URL and client address.
 */
import type { AnswerRequest } from "../../api/app-deps.ts";
import { unlessClientGone } from "../../api/client-gone.ts";
import { requestIdOf } from "../../api/request-id.ts";
import { fullUrl, pathOf } from "../../api/router.ts";
import { unavailableResponse } from "../../api/unavailable.ts";
import type { Clock } from "../../core/clock.ts";
import { createSemaphore } from "../../core/work/semaphore.ts";
import { createGetOverSocket, isWithoutBody } from "./get-over-socket.ts";

const URL_HEADER = "x-postrider-url";
const ADDRESS_HEADER = "x-postrider-address";

export interface ForwardOptions {
  readonly ids: () => string;
  /** How many threads forward requests. */
  readonly threads: number;
}

/** Forwards requests to `socket`; answers 503 if nobody answers there. */
export function createForward(socket: string, clock: Clock, { ids, threads }: ForwardOptions): AnswerRequest {
  const get = createGetOverSocket(socket, clock);
  const count = Math.floor(ANONYMOUS_LIMIT.count / threads);
  const anonymous = createSemaphore(clock, { ...ANONYMOUS_LIMIT, count });
  const unavailable = (request: Request) =>
    unavailableResponse(request, requestIdOf(request.headers) ?? ids());

  const post = async (request: Request, headers: Headers): Promise<Response> => {
    const { method, body, signal } = request;
    const isAnonymous = isOpenToAll(pathOf(request.url));
    const release = isAnonymous ? await anonymous.acquire() : undefined;
    if (isAnonymous && !release) return unavailable(request);
    const passed = { method, headers, signal, redirect: "manual", ...(body && { body }) } as const;
    try {
      return await fetch("http://postrider", { ...passed, unix: socket, decompress: false });
    } finally {
      release?.();
    }
  };
  return async (request, addressOf) => {
    const headers = new Headers(request.headers);
    headers.set(URL_HEADER, request.url);
    headers.set(ADDRESS_HEADER, addressOf(request));
    // A repeated Content-Length arrives joined ("5, 5"), which `fetch` would not accept. Without it the body is sent in chunks.
    if (headers.get("content-length")?.includes(",")) headers.delete("content-length");
    // An offer of another protocol (RFC 9110 §7.8) is not to be forwarded, and `fetch` would keep the body back until it is accepted.
    headers.delete("upgrade");
    const { method, signal } = request;
    try {
      if (isWithoutBody(method)) return await get({ method, headers, signal });
      return await unlessClientGone(request, () => post(request, headers));
    } catch {
      return unavailable(request);
    }
  };
}

/** Clients without a key may send their bodies slowly, so they get at most half of the 256 requests that `fetch` allows a process. */
const ANONYMOUS_LIMIT = { count: 128, waitMs: 30_000 };
const OPEN_TO_ALL = ["/v1/push/", "/receipts/", "/unsubscribe/", "/admin/v1/session"];

export function isOpenToAll(path: string): boolean {
  return OPEN_TO_ALL.some((start) => path.startsWith(start));
}

/**
 * Makes the runtime open the files that its HTTP client needs, by a request to `socket`, on which nobody listens. If it could
 * not open them later, because clients use up all file descriptors, it would end the process.
 */
export async function prepareForward(socket: string): Promise<void> {
  await fetch("http://postrider", { unix: socket }).catch(() => {});
}

/** The handler at the other end: restores the original request for `answer`. */
export function answerForwarded(answer: AnswerRequest): (request: Request) => Promise<Response> {
  return (request) => {
    const headers = new Headers(request.headers);
    const url = fullUrl(headers.get(URL_HEADER) ?? request.url);
    const address = headers.get(ADDRESS_HEADER) ?? "";
    for (const name of [URL_HEADER, ADDRESS_HEADER]) headers.delete(name);
    const { method, body, signal } = request;
    return answer(new Request(url, { method, headers, signal, ...(body && { body }) }), () => address);
  };
}
