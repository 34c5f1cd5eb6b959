/** Makes one HTTP request, and tells what is known of it, whatever happens. No redirects, no retries, no unbounded answers. */
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
  /** Never rejects. Ends at once on abort. */
  exchange(request: RenderedRequest, signal: AbortSignal): Promise<Exchange>;
  /** Closes all connections, those in use included. */
  close(): void;
}

export interface HttpClientOptions {
  /** For the name, the connection and TLS. */
  readonly connectTimeoutMs: number;
  /** For all of it, from the first look-up to the last octet of the answer. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly isVerified: boolean;
  readonly ca?: string;
}

/** Shorter than the 5 s after which servers begin to close idle connections: a request that met such a close would be in doubt. */
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

interface ExchangeParts {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly options: HttpClientOptions;
  readonly agents: { readonly http: http.Agent; readonly https: https.Agent };
}

function exchange(request: RenderedRequest, parts: ExchangeParts): Promise<Exchange> {
  const { signal, clock, options } = parts;
  if (signal.aborted) return Promise.resolve({ kind: "unsent", reason: "cut off before it began" });
  const outgoing = open(request, parts);
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
    // Once the answer has begun, an error only means that it ended badly: what came of it counts.
    outgoing.on("error", (error) => isAnswered || fail(wordsOf(error)));
    outgoing.on("response", (response) => {
      isAnswered = true;
      read(response, end);
    });
    outgoing.end(request.body);
  });
}

/** Opens the request; an error if it cannot be written, as with an impossible header. */
function open(request: RenderedRequest, { agents }: ExchangeParts): http.ClientRequest | Error {
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

/** Calls `connected` when there is a connection: the request is written then, and never before. */
function whenConnected(outgoing: http.ClientRequest, { url }: RenderedRequest, connected: () => void): void {
  outgoing.on("socket", (socket) => {
    if (outgoing.reusedSocket) connected();
    else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", connected);
  });
}

/** Reads an answer. One that is too long or breaks off ends with what has come: its status is known. */
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

/** The error's message, else its code. A message may hold addresses, which operators may see. */
function wordsOf(error: Error): string {
  return error.message || ("code" in error ? String(error.code) : "the connection failed");
}
