/** One HTTP request, and what is known of it whatever becomes of it. No redirects, no repeats, no unbounded answers. */
import http from "node:http";
import https from "node:https";
import type { Clock } from "../../../core/clock.ts";
import type { RenderedRequest } from "./render-request.ts";

export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The first 64 KiB. */
  readonly body: string;
}

export type Exchange =
  | { readonly kind: "answered"; readonly answer: Answer }
  /** Nothing was written: there was no connection to write to. */
  | { readonly kind: "unsent"; readonly reason: string }
  /** It was written, or may have been, and no answer came. */
  | { readonly kind: "lost"; readonly reason: string };

export interface HttpClient {
  /** Never rejects. On abort it ends at once. */
  exchange(request: RenderedRequest, signal: AbortSignal): Promise<Exchange>;
  /** Closes the connections that wait for another request, and those in use. */
  close(): void;
}

export interface HttpClientOptions {
  /** For name, connection and TLS. */
  readonly connectTimeoutMs: number;
  /** For all of it, from the first look-up to the last octet of the answer. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly isVerified: boolean;
  readonly ca?: string;
}

/** Servers close idle connections after 5 s and more; a request that meets such an end would be in doubt. */
const IDLE_MS = 4_000;

const MAX_ANSWER_BYTES = 64 * 1024;

export function createHttpClient(clock: Clock, options: HttpClientOptions): HttpClient {
  const pool = { keepAlive: true, maxSockets: options.maxConnections, timeout: IDLE_MS };
  const tls = { rejectUnauthorized: options.isVerified, ...(options.ca !== undefined && { ca: options.ca }) };
  const agents = { http: new http.Agent(pool), https: new https.Agent({ ...pool, ...tls }) };
  return {
    exchange: (request, signal) => exchange(request, { signal, clock, options, agents }),
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

interface Surroundings {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly options: HttpClientOptions;
  readonly agents: { readonly http: http.Agent; readonly https: https.Agent };
}

function exchange(request: RenderedRequest, around: Surroundings): Promise<Exchange> {
  const { signal, clock, options } = around;
  if (signal.aborted) return Promise.resolve({ kind: "unsent", reason: "cut off before it began" });
  const outgoing = open(request, around);
  if (outgoing instanceof Error) return Promise.resolve({ kind: "unsent", reason: outgoing.message });
  return new Promise((resolve) => {
    let isConnected = false;
    const end = (result: Exchange) => {
      for (const cancel of timers) cancel();
      signal.removeEventListener("abort", onAbort);
      resolve(result);
      if (result.kind !== "answered") outgoing.destroy();
    };
    const fail = (reason: string) => end({ kind: isConnected ? "lost" : "unsent", reason });
    const onAbort = () => fail("cut off before the answer came");
    const timers = [
      clock.after(options.connectTimeoutMs, () => isConnected || fail("no connection in time")),
      clock.after(options.timeoutMs, () => fail("no answer in time")),
    ];
    signal.addEventListener("abort", onAbort);
    whenConnected(outgoing, request, () => {
      isConnected = true;
    });
    let isAnswered = false;
    // Of an answer that is longer than it says, or ends in no way HTTP knows, what came counts.
    outgoing.on("error", (error) => isAnswered || fail(wordsOf(error)));
    outgoing.on("response", (response) => {
      isAnswered = true;
      read(response, end);
    });
    outgoing.end(request.body);
  });
}

/** An error where the request is none: a header that cannot be written. */
function open(request: RenderedRequest, { agents }: Surroundings): http.ClientRequest | Error {
  const isTls = request.url.protocol === "https:";
  const length = request.body === undefined ? {} : { "Content-Length": Buffer.byteLength(request.body) };
  try {
    return (isTls ? https : http).request(request.url, {
      method: request.method,
      agent: isTls ? agents.https : agents.http,
      headers: { "User-Agent": "Postrider", Accept: "*/*", ...request.headers, ...length },
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A request is written as soon as its connection stands, and never before. */
function whenConnected(outgoing: http.ClientRequest, { url }: RenderedRequest, connected: () => void): void {
  outgoing.on("socket", (socket) => {
    if (outgoing.reusedSocket) connected();
    else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", connected);
  });
}

/** An answer that is too long or breaks off is what came of it: its status has been said. */
function read(response: http.IncomingMessage, end: (result: Exchange) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = () => {
    const body = Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString("utf8");
    const header = (name: string) => headerOf(response.headers[name.toLowerCase()]);
    end({ kind: "answered", answer: { status: response.statusCode ?? 0, header, body } });
  };
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= MAX_ANSWER_BYTES) return;
    finish();
    response.destroy();
  });
  response.on("end", finish);
  response.on("error", finish);
  response.on("close", finish);
}

function headerOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.[0];
}

/** `ECONNREFUSED` and its like say enough; messages may hold addresses, and those are fine to show. */
function wordsOf(error: Error): string {
  return error.message || ("code" in error ? String(error.code) : "the connection failed");
}
