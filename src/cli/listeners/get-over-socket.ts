/**
 * Requests without a body over a Unix socket. `fetch` allows a process 256 requests at a time and makes others wait: a few
 * hundred clients that wait for events would block all the rest.
 */
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request as open } from "node:http";
import { Readable } from "node:stream";
import { type Clock, sleep } from "../../core/clock.ts";

export interface GetRequest {
  readonly method: string;
  readonly headers: Headers;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Resolves when the head of the answer has come; rejects if there is none. */
export type GetOverSocket = (request: GetRequest) => Promise<Response>;

export function createGetOverSocket(socketPath: string, clock: Clock): GetOverSocket {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return async (request) => {
    const { method, signal } = request;
    const outgoing = await connected(() => openRequest(request, { socketPath, agent }), { clock, signal });
    const answered = answerTo(outgoing, method);
    outgoing.end();
    return answered;
  };
}

/** Headers about the connection (RFC 9110 §7.6.1), or about a body, which a GET does not have. */
const NOT_FORWARDED = [
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

function openRequest(
  { method, headers, signal }: GetRequest,
  way: { readonly socketPath: string; readonly agent: Agent },
): ClientRequest {
  const outgoing = open({ ...way, method, path: "/", signal });
  for (const [name, value] of headers) {
    if (!NOT_FORWARDED.includes(name)) outgoing.setHeader(name, value.replaceAll(DEL, " "));
  }
  // `answerTo` reports errors. One after the answer would otherwise be unhandled, and end the process.
  outgoing.on("error", () => {});
  return outgoing;
}

/** Invalid in a header (RFC 9110 §5.5), where the listener lets it pass and this client throws at it. */
const DEL = "\x7f";

/** The kernel refuses connections while 512 wait to be accepted, so connecting is retried for 300 ms. */
const TRIES = 30;
const GAP_MS = 10;
const IS_BUSY = ["EAGAIN", "ECONNREFUSED"];

async function connected(
  open: () => ClientRequest,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ClientRequest> {
  for (let tries = 1; ; tries++) {
    try {
      const outgoing = open();
      const [socket] = await once(outgoing, "socket", { signal });
      if (socket.connecting) await once(socket, "connect", { signal });
      return outgoing;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (tries === TRIES || signal.aborted || !IS_BUSY.includes(code)) throw error;
      await sleep(clock, GAP_MS, signal);
    }
  }
}

function answerTo(outgoing: ClientRequest, method: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    // Inside the event, so that the body has its error handler before the answer can break off.
    outgoing.once("response", (incoming) => resolve(toResponse(incoming, method)));
    outgoing.once("error", reject);
    outgoing.once("close", () => reject(new Error("closed before an answer")));
  });
}

/** The answer as a response. Its body is read as fast as the client reads it. */
function toResponse(incoming: IncomingMessage, method: string): Response {
  const { statusCode: status = 502, headersDistinct } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (isOfAnswer(name, values)) for (const value of values) headers.append(name, value);
  }
  if (method !== "HEAD") return new Response(Readable.toWeb(incoming) as ReadableStream, { status, headers });
  incoming.resume();
  return new Response(null, { status, headers });
}

/** Whether a header is passed on to the client. `Connection: close` is, because the process is about to stop. */
function isOfAnswer(name: string, values: readonly string[]): boolean {
  if (name === "connection") return values.some((value) => value.toLowerCase() === "close");
  return name === "content-length" || !NOT_FORWARDED.includes(name);
}

/** `TRACE` too: `fetch` drops the body of its answer. */
const WITHOUT_BODY = ["GET", "HEAD", "TRACE"];

export function isWithoutBody(method: string): boolean {
  return WITHOUT_BODY.includes(method);
}
