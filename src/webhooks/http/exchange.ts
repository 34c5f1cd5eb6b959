import type { Connection, Phase } from "./connection.ts";
import { type Answer, openAnswerReader } from "./read-answer.ts";

export interface ExchangeRequest {
  /** Open or opening. Nothing else uses it until the exchange is over. */
  readonly connection: Connection;
  /** True if it has served an exchange before. */
  readonly isReused: boolean;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  /** Aborts with the reason `timeout` or `connect`, or with another one when the program ends. */
  readonly signal: AbortSignal;
  /** Called when TLS is established. */
  readonly onConnected?: () => void;
  /** Called if the connection can serve another exchange. Otherwise it is closed. */
  readonly giveBack: () => void;
}

export type FailureReason =
  /** Webhooks are not sent to such a URL: it is not https, for example. */
  | "refused_url"
  /** An address is in a blocked range. */
  | "refused_address"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  /** The connection ended before an answer. */
  | "closed"
  /** The answer is not HTTP. */
  | "malformed"
  /** Called off because the program ends. */
  | "stopped";

export type ExchangeOutcome =
  | ({ readonly kind: "answered" } & Answer)
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly message: string;
      /** Present if a connection that had served before turned out to be closed: a new one may work. */
      readonly wasStale?: true;
      /** Present if no connection came about, so that nothing was sent: another address may work. */
      readonly isUnsent?: true;
    };

/**
 * One POST over one connection. Redirects are answers like any other. Once status and header have come, the outcome is
 * `answered`, even if the body fails.
 */
export function exchange(request: ExchangeRequest): Promise<ExchangeOutcome> {
  const { connection, isReused, signal } = request;
  return new Promise((resolve) => {
    const reader = openAnswerReader();
    const finish = (failure: ExchangeOutcome, isReusable = false) => {
      signal.removeEventListener("abort", onAbort);
      connection.listen(undefined);
      if (isReusable) request.giveBack();
      else connection.close();
      const answer = reader.answer();
      resolve(answer ? { kind: "answered", ...answer } : failure);
    };
    const onAbort = () => finish(outcomeOfAbort(signal));
    const onOpen = () => {
      request.onConnected?.();
      connection.send(toText(request));
    };

    signal.addEventListener("abort", onAbort);
    connection.listen({
      onOpen,
      onData(chunk) {
        const reading = reader.take(chunk);
        if (reading !== "more") finish(reading === "malformed" ? MALFORMED : CLOSED, reading === "ended");
      },
      onGone: (error) =>
        finish(
          failureOf(connection.phase(), { isStale: isReused && !reader.hasBegun(), ...(error && { error }) }),
        ),
    });
    if (signal.aborted) onAbort();
    else if (connection.phase() === "open") onOpen();
  });
}

/** In one piece: a single write, and mostly a single TLS record. */
function toText({ path, headers, body }: ExchangeRequest): string {
  let text = `POST ${path} HTTP/1.1\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return `${text}\r\n${body}`;
}

const CLOSED = {
  kind: "failed",
  reason: "closed",
  message: "the connection was closed before an answer",
} as const;

const MALFORMED: ExchangeOutcome = {
  kind: "failed",
  reason: "malformed",
  message: "the answer is not HTTP/1.1, or its header is longer than 16 KiB",
};

/** The outcome of an attempt that was aborted, by the reason of its signal. */
export function outcomeOfAbort({ reason }: AbortSignal): ExchangeOutcome {
  if (reason === "timeout") return { kind: "failed", reason, message: "no answer in time" };
  if (reason === "connect") {
    return { kind: "failed", reason, message: "no connection in time", isUnsent: true };
  }
  return { kind: "failed", reason: "stopped", message: "the delivery was called off" };
}

function failureOf(
  phase: Phase,
  { isStale, error }: { readonly isStale: boolean; readonly error?: Error },
): ExchangeOutcome {
  if (phase !== "open") return { kind: "failed", reason: phase, message: describe(error), isUnsent: true };
  if (isStale) return { ...CLOSED, wasStale: true };
  return isOfTls(error) ? { kind: "failed", reason: "tls", message: describe(error) } : CLOSED;
}

/** In TLS 1.3 a server says only after the handshake that it does not take a client without a certificate (RFC 8446 §4.4.2.4). */
function isOfTls(error: Error | undefined): boolean {
  return error !== undefined && "code" in error && String(error.code).startsWith("ERR_SSL_");
}

const MAX_MESSAGE = 300;

/** On one line, and cut: the text may come from the server's certificate. */
function describe(error: Error | undefined): string {
  if (!error) return "the connection was closed while it was opened";
  const code = "code" in error ? String(error.code) : "";
  const text = error.message.includes(code) ? error.message : `${code}: ${error.message}`;
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").slice(0, MAX_MESSAGE);
  const advice = ADVICE.find(({ words }) => words.test(error.message))?.say;
  return advice === undefined ? line : `${line}; ${advice}`;
}

const OF_YOUR_OWN = "if an authority of your own signed it, add that to the setting webhook_ca";

/** What to do about a certificate that is not accepted. Recognised by the runtime's words, since the code is not always one of Node's. */
const ADVICE: readonly { readonly words: RegExp; readonly say: string }[] = [
  {
    words: /verify the first certificate/i,
    say: `${OF_YOUR_OWN}; otherwise the receiver does not send its intermediate certificate`,
  },
  { words: /self[- ]signed certificate|issuer certificate/i, say: OF_YOUR_OWN },
];
