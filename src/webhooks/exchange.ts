import type { ClientRequest, IncomingMessage } from "node:http";
import { type Agent, type RequestOptions, request } from "node:https";
import type { ConnectionOptions, SecureContext } from "node:tls";
import type { Endpoint } from "./connection-pool.ts";
import { openHeadReader } from "./read-head.ts";

export interface ExchangeRequest {
  readonly endpoint: Endpoint;
  /** `false`: a connection of its own. */
  readonly agent: Agent | false;
  readonly secureContext: SecureContext;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  /** Aborts with `timeout` or `connect`; with anything else when the program ends. */
  readonly signal: AbortSignal;
  /** TLS stands: what follows is the other side's time. */
  readonly onConnected: () => void;
}

export type FailureReason =
  /** The URL is none that webhooks are sent to. */
  | "refused_url"
  /** An address is in a range that is not to be reached. */
  | "refused_address"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  /** The connection ended before an answer. */
  | "closed"
  /** The answer is no HTTP. */
  | "malformed"
  /** We gave up, because the program ends. */
  | "stopped";

export type Exchanged =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter?: string;
      /** The first 1 KiB of the body as text, without control characters. */
      readonly head: string;
    }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly message: string;
      /** A kept connection turned out to be dead: nothing is known, another one may work. */
      readonly wasStale?: true;
    };

/**
 * One POST over one connection, to an address and never to a name: nothing here can look anything up. Redirects are
 * answers like others. Once a status has come, the exchange is answered, whatever becomes of the body.
 */
export function exchange(asked: ExchangeRequest): Promise<Exchanged> {
  return new Promise((resolve) => {
    const { signal } = asked;
    const req = open(asked);
    const phase = watchPhase(req, asked.onConnected);
    let read: (() => Exchanged) | undefined;
    let isOver = false;
    const finish = (failure: Exchanged, isReusable = false) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener("abort", onAbort);
      if (!isReusable) req.destroy();
      resolve(read?.() ?? failure);
    };
    const onAbort = () => finish(calledOff(signal));

    signal.addEventListener("abort", onAbort);
    req.on("error", (error) => finish(failureOf(error, phase(), req.reusedSocket)));
    req.on("close", () => finish(CLOSED));
    req.on("upgrade", (res) => finish(answer(res, "")));
    req.on("response", (res) => {
      read = readAnswer(res, (isReusable) => finish(CLOSED, isReusable));
    });
    req.end(asked.body);
    if (signal.aborted) onAbort();
  });
}

function open({ endpoint, agent, secureContext, path, headers }: ExchangeRequest): ClientRequest {
  const options: RequestOptions & Pick<ConnectionOptions, "secureContext"> = {
    method: "POST",
    host: endpoint.address,
    port: endpoint.port,
    ...(endpoint.servername !== undefined && { servername: endpoint.servername }),
    path,
    headers,
    setHost: false,
    agent,
    secureContext,
  };
  return request(options);
}

const CLOSED: Exchanged = {
  kind: "failed",
  reason: "closed",
  message: "the connection was closed before an answer",
};

type Phase = "connect" | "tls" | "exchange";

/** How far the request's connection has come. */
function watchPhase(req: ClientRequest, onConnected: () => void): () => Phase {
  let phase: Phase = "connect";
  const connected = () => {
    phase = "exchange";
    onConnected();
  };
  req.on("socket", (socket) => {
    if (req.reusedSocket) return connected();
    socket.once("connect", () => {
      phase = "tls";
    });
    socket.once("secureConnect", connected);
  });
  return () => phase;
}

/** Reads on until the body ends or has been long enough; `onEnd(false)`: the connection is of no further use. */
function readAnswer(res: IncomingMessage, onEnd: (isReusable: boolean) => void): () => Exchanged {
  const head = openHeadReader();
  res.on("data", (chunk: Buffer) => {
    if (!head.take(chunk)) onEnd(false);
  });
  res.on("end", () => onEnd(res.complete));
  res.on("error", () => onEnd(false));
  res.on("close", () => onEnd(false));
  return () => answer(res, head.text());
}

function answer(res: IncomingMessage, head: string): Exchanged {
  const retryAfter = res.headers["retry-after"];
  return {
    kind: "answered",
    status: res.statusCode ?? 0,
    ...(retryAfter !== undefined && { retryAfter }),
    head,
  };
}

/** Why nothing came of it, where it was our side that gave up. */
export function calledOff({ reason }: AbortSignal): Exchanged {
  if (reason === "timeout") return { kind: "failed", reason, message: "no answer in time" };
  if (reason === "connect") return { kind: "failed", reason, message: "no connection in time" };
  return { kind: "failed", reason: "stopped", message: "the delivery was called off" };
}

function failureOf(error: Error, phase: Phase, isReused: boolean): Exchanged {
  const code = "code" in error ? String(error.code) : "";
  if (phase !== "exchange") return { kind: "failed", reason: phase, message: describe(error, code) };
  if (code.startsWith("HPE_")) {
    return { kind: "failed", reason: "malformed", message: describe(error, code) };
  }
  return { ...CLOSED, ...(isReused && { wasStale: true }) };
}

const MAX_MESSAGE = 300;

/** Certificates and answers can speak in it: it is cut, and of one line. */
function describe(error: Error, code: string): string {
  const text = error.message.includes(code) ? error.message : `${code}: ${error.message}`;
  return text.replace(/[\p{Cc}\s]+/gu, " ").slice(0, MAX_MESSAGE);
}
