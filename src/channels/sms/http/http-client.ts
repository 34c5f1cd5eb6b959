/** Makes HTTP requests, and tells what is known of each, whatever happens. No redirects, no retries, no unbounded answers. */
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { constants, unzipSync } from "node:zlib";
import type { Clock } from "../../../core/clock.ts";
import { lookupInTurn, type Resolve } from "../../lookup-in-turn.ts";
import { createConnectionReuse } from "./connection-reuse.ts";
import type { RenderedRequest } from "./render-request.ts";

export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The first 64 KiB, as text. */
  readonly body: string;
  /** It broke off, or its end did not come in time. */
  readonly isCutOff: boolean;
}

export type Exchange =
  | { readonly kind: "answered"; readonly answer: Answer }
  /** Nothing was written: there was no connection to write to. */
  | { readonly kind: "unsent"; readonly reason: string }
  /** The request was written, or may have been, and no answer came. */
  | { readonly kind: "lost"; readonly reason: string };

export interface HttpClient {
  /** Never rejects. Ends at once on abort. */
  exchange(request: RenderedRequest, signal: AbortSignal): Promise<Exchange>;
  /** Closes all connections, those in use included. */
  close(): void;
}

export interface HttpClientOptions {
  /** For the name look-up, the connection and TLS together. */
  readonly connectTimeoutMs: number;
  /** For the whole exchange, from the name look-up to the last octet of the answer. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly isVerified: boolean;
  readonly ca?: string;
  /** Looks up the addresses of a name; absent: as the machine does. */
  readonly resolve?: Resolve;
}

/**
 * Shorter than the 2 s after which the first servers close idle connections, unless they say otherwise: a request that met such a
 * close would be in doubt, and may be sent twice. A new connection takes a tenth of a second.
 */
const IDLE_MS = 1_500;

const MAX_ANSWER_BYTES = 64 * 1024;

export function createHttpClient(clock: Clock, options: HttpClientOptions): HttpClient {
  const kept = createAgents(options, { keepAlive: true, timeout: IDLE_MS });
  const single = createAgents(options, { keepAlive: false });
  const reuse = createConnectionReuse(clock);
  /**
   * If the gateway's name has several addresses, the next is tried first after one that gave no answer. One that closed a connection
   * that it had answered on may be well, and the next one silent.
   */
  let turn = 0;
  return {
    async exchange(request, signal) {
      const agents = reuse.isOn() ? kept : single;
      const ownTurn = turn;
      const lookup = lookupInTurn(ownTurn, options.resolve);
      let wasStale = false;
      const onStale = () => {
        wasStale = true;
        reuse.failed();
      };
      const result = await exchange(request, { signal, clock, options, agents, onStale, lookup });
      const isOfAddress = result.kind !== "answered" && !wasStale && !signal.aborted;
      // Requests that were under way together have tried the same address first.
      if (isOfAddress && turn === ownTurn) turn++;
      return result;
    },
    close() {
      for (const agents of [kept, single]) {
        agents.http.destroy();
        agents.https.destroy();
      }
    },
  };
}

interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

/** `keepAlive`: connections serve one request after another. */
function createAgents(
  { maxConnections, isVerified, ca }: HttpClientOptions,
  keeping: Pick<http.AgentOptions, "keepAlive" | "timeout">,
): Agents {
  const pool = { ...keeping, maxSockets: maxConnections };
  const tls = { rejectUnauthorized: isVerified, ...(ca !== undefined && { ca }) };
  return { http: new http.Agent(pool), https: new https.Agent({ ...pool, ...tls }) };
}

interface ExchangeParts {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly options: HttpClientOptions;
  readonly agents: Agents;
  /** Called when a connection that had served a request before was closed under this one. */
  readonly onStale: () => void;
  readonly lookup: LookupFunction;
}

function exchange(request: RenderedRequest, parts: ExchangeParts): Promise<Exchange> {
  const { signal, clock, options, onStale } = parts;
  if (signal.aborted) return Promise.resolve({ kind: "unsent", reason: "cut off before it began" });
  const outgoing = open(request, parts);
  if (outgoing instanceof Error) return Promise.resolve({ kind: "unsent", reason: outgoing.message });
  return new Promise((resolve) => {
    let isConnected = false;
    let isEnded = false;
    const end = (result: Exchange) => {
      isEnded = true;
      for (const cancel of timers) cancel();
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    };
    let answer: ReturnType<typeof read> | undefined;
    const fail = (reason: string) => {
      // Once the answer has begun, the part that has come counts as the answer, however it ends.
      if (answer) answer.cutOff();
      else end({ kind: isConnected ? "lost" : "unsent", reason });
      outgoing.destroy();
    };
    const onAbort = () => fail("cut off before the answer came");
    const timers = [
      clock.after(options.connectTimeoutMs, () => isConnected || fail("no connection in time")),
      clock.after(options.timeoutMs, () => fail("no answer in time")),
    ];
    signal.addEventListener("abort", onAbort);
    whenConnected(outgoing, request, () => {
      isConnected = true;
    });
    limitInterim(outgoing, () => fail("interim answers (1xx) without end"));
    // After an error in the middle of an answer, the response ends by itself once all that has come is read.
    outgoing.on("error", (error) => {
      if (answer) return;
      if (outgoing.reusedSocket && !isEnded) onStale();
      fail(wordsOf(error));
    });
    outgoing.on("response", (response) => {
      answer = read(response, end);
    });
    outgoing.end(request.body);
  });
}

/** Opens the request; returns an error if it cannot be written, as with an impossible header. */
function open(request: RenderedRequest, { agents, lookup }: ExchangeParts): http.ClientRequest | Error {
  const isTls = request.url.protocol === "https:";
  const length = request.body === undefined ? {} : { "Content-Length": Buffer.byteLength(request.body) };
  try {
    return (isTls ? https : http).request(request.url, {
      method: request.method,
      agent: isTls ? agents.https : agents.http,
      lookup,
      headers: { ...OWN_HEADERS, ...request.headers, ...length },
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** `identity`: to a request that names no encodings, the answer may come in any (RFC 9110 §12.5.3). */
const OWN_HEADERS = { "User-Agent": "Postrider", Accept: "*/*", "Accept-Encoding": "identity" };

/** Calls `connected` when there is a connection: the request is written only then. */
function whenConnected(outgoing: http.ClientRequest, { url }: RenderedRequest, connected: () => void): void {
  outgoing.on("socket", (socket) => {
    if (outgoing.reusedSocket) connected();
    else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", connected);
  });
}

/** How many interim answers (RFC 9110 §15.2) to pass over. */
const MAX_INTERIM = 100;

/** Each interim answer takes time from everything else, and a server can send hundreds of thousands. */
function limitInterim(outgoing: http.ClientRequest, onTooMany: () => void): void {
  let count = 0;
  outgoing.on("information", () => {
    if (++count === MAX_INTERIM + 1) onTooMany();
  });
}

/** Reads an answer. If it is too long, breaks off or is cut short, the part that has come counts, since its status is known. */
function read(response: http.IncomingMessage, end: (result: Exchange) => void): { cutOff: () => void } {
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = (isCutOff: boolean) => {
    const header = (name: string) => headerOf(response.headers[name.toLowerCase()]);
    const body = textOf(Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES), header("content-encoding"));
    end({ kind: "answered", answer: { status: response.statusCode ?? 0, header, body, isCutOff } });
  };
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= MAX_ANSWER_BYTES) return;
    finish(false);
    response.destroy();
  });
  const cutOff = () => finish(true);
  response.on("end", () => finish(false));
  response.on("error", cutOff);
  response.on("close", cutOff);
  return { cutOff };
}

/** The text, without a byte order mark, which would make JSON unreadable. */
function textOf(octets: Buffer, encoding: string | undefined): string {
  return new TextDecoder().decode(encoding === undefined ? octets : unzipped(octets));
}

/** Unzips the body: some gateways compress although they are asked not to. One that is no zip, or too long unzipped, stays as it is. */
function unzipped(octets: Buffer): Buffer {
  try {
    return unzipSync(octets, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_ANSWER_BYTES });
  } catch {
    return octets;
  }
}

function headerOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.[0];
}

/** The error's message, else its code. A message may hold addresses, which operators may see. */
function wordsOf(error: Error): string {
  return error.message || ("code" in error ? String(error.code) : "the connection failed");
}
