/** A customer's HTTPS server, on 127.0.0.1 and a port of its own, that fails as it is told to. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { hooksTls } from "./hooks-tls.ts";
import { createSignals } from "./signals.ts";
import { verifyWebhook } from "./verify-webhook.ts";

/** What the receiver does with a delivery. */
export type Behaviour =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The same answer, later. */
  | { readonly kind: "slow"; readonly ms: number }
  /** Accepts it when the promise resolves. */
  | { readonly kind: "later"; readonly when: Promise<unknown> }
  /** Reads it, and never answers. */
  | { readonly kind: "silent" }
  /** Closes the connection without an answer. */
  | { readonly kind: "close" }
  /** Sends status 200 and part of a body, and closes the connection. */
  | { readonly kind: "ok_then_close" }
  /** Status 200 and a body that never ends. */
  | { readonly kind: "endless" };

/** The dial, by name. */
export const BEHAVIOURS = {
  ok: { kind: "answer", status: 200, body: "ok" },
  redirect: { kind: "answer", status: 302, headers: { location: "https://127.0.0.1:1/inside" } },
  gone: { kind: "answer", status: 410 },
  idleTooLong: { kind: "answer", status: 408, headers: { connection: "close" } },
  throttled: { kind: "answer", status: 429, headers: { "retry-after": "120" } },
  error: { kind: "answer", status: 500, body: "out of order" },
  huge: { kind: "answer", status: 200, body: "x".repeat(1024 * 1024) },
  endless: { kind: "endless" },
  silent: { kind: "silent" },
  close: { kind: "close" },
  okThenClose: { kind: "ok_then_close" },
  slow: { kind: "slow", ms: 300 },
} as const satisfies Readonly<Record<string, Behaviour>>;

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The name in SNI; `false` where there was none. */
  readonly servername: string | false;
  readonly body: string;
  /** What a careful receiver finds wrong with it; `undefined` if nothing, or if there is no secret to check with. */
  readonly problem: string | undefined;
}

export interface FakeWebhookReceiver {
  readonly port: number;
  /** `https://hooks.test:port/hook`, or under another name. */
  url(options?: { readonly name?: string; readonly path?: string }): string;
  /** In order of arrival, whatever became of them. */
  readonly deliveries: readonly Delivery[];
  /** TLS connections made so far. */
  connections(): number;
  /** Bytes of endless answers written so far. */
  written(): number;
  /** Turns the dial, for what comes next; a function decides for each delivery. */
  behave(next: Behaviour | ((delivery: Delivery, index: number) => Behaviour)): void;
  /** Resolves when so many deliveries have arrived. */
  arrived(count: number): Promise<void>;
  until(isSo: () => boolean): Promise<void>;
  /** Ends all connections, those that wait for an answer too. */
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** Signatures are checked with it. */
  readonly secret?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** The receiver's idea of now, Unix milliseconds; the machine's by default. */
  readonly now?: () => number;
  readonly port?: number;
  /** 127.0.0.1 by default. */
  readonly host?: string;
}

export async function startFakeWebhookReceiver(options: ReceiverOptions = {}): Promise<FakeWebhookReceiver> {
  const deliveries: Delivery[] = [];
  const signals = createSignals();
  let connections = 0;
  let written = 0;
  let dial: (delivery: Delivery, index: number) => Behaviour = () => BEHAVIOURS.ok;
  const { key, cert } = options.tls ?? hooksTls;

  const server = createServer({ key, cert }, async (req, res) => {
    const delivery = await readDelivery(req, options);
    const index = deliveries.push(delivery) - 1;
    act(dial(delivery, index), res, (bytes) => {
      written += bytes;
      signals.tell();
    });
    signals.tell();
  });
  server.on("secureConnection", (socket) => {
    connections++;
    socket.on("error", () => {});
    signals.tell();
  });
  server.on("tlsClientError", () => signals.tell());
  await new Promise<void>((resolve) =>
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve),
  );
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: ({ name = "hooks.test", path = "/hook" } = {}) => `https://${name}:${port}${path}`,
    deliveries,
    connections: () => connections,
    written: () => written,
    behave(next) {
      dial = typeof next === "function" ? next : () => next;
    },
    arrived: (count) => signals.until(() => deliveries.length >= count),
    until: signals.until,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readDelivery(req: IncomingMessage, options: ReceiverOptions): Promise<Delivery> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const nowS = Math.floor((options.now?.() ?? Date.now()) / 1000);
  const { secret } = options;
  return {
    method: req.method ?? "",
    path: req.url ?? "",
    headers: req.headers,
    servername: (req.socket as { servername?: string | false }).servername ?? false,
    body: body.toString(),
    problem:
      secret === undefined ? undefined : verifyWebhook({ headers: req.headers, body }, { secret, nowS }),
  };
}

function act(behaviour: Behaviour, res: ServerResponse, onWritten: (bytes: number) => void): void {
  switch (behaviour.kind) {
    case "answer":
      res.writeHead(behaviour.status, behaviour.headers).end(behaviour.body ?? "");
      return;
    case "slow":
      setTimeout(() => res.writeHead(200).end("ok"), behaviour.ms);
      return;
    case "later":
      void behaviour.when.then(() => res.writeHead(200).end("ok"));
      return;
    case "silent":
      return;
    case "close":
      res.socket?.destroy();
      return;
    case "ok_then_close":
      res.writeHead(200, { "content-length": "1000" }).write("partial", () => res.socket?.destroy());
      return;
    case "endless":
      res.writeHead(200);
      writeOn(res, onWritten);
  }
}

function writeOn(res: ServerResponse, onWritten: (bytes: number) => void): void {
  const chunk = Buffer.alloc(16 * 1024, "x");
  const next = () => {
    if (res.destroyed || res.socket?.destroyed) return;
    onWritten(chunk.length);
    if (res.write(chunk)) setImmediate(next);
    else res.once("drain", next);
  };
  next();
}
