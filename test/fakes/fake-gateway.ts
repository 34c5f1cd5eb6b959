/** An SMS provider's HTTP interface on a real socket, which answers as the test says, or not at all. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createSignals } from "./signals.ts";

export interface GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Fields of a form, or of a query where there is no body. */
  readonly fields: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look where they like
  readonly json: any;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `silent`: says nothing until `release`. `drop`: hangs up after it has read the request. `cut`: in mid-answer. */
export type GatewayBehaviour =
  | GatewayAnswer
  | ((request: GatewayRequest) => GatewayAnswer)
  | "silent"
  | "drop"
  | "cut";

export interface FakeGateway {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly GatewayRequest[];
  /** Connections it has been offered. */
  connections(): number;
  /** Sets the answer for all later requests. */
  behave(as: GatewayBehaviour): void;
  /** Gives this answer to the requests that wait, and to all later ones. */
  release(answer: GatewayAnswer): void;
  whenRequests(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startFakeGateway(
  behaviour: GatewayBehaviour = { status: 200 },
  port = 0,
): Promise<FakeGateway> {
  const requests: GatewayRequest[] = [];
  const waiting = new Set<ServerResponse>();
  const signals = createSignals();
  let current = behaviour;
  let connections = 0;
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    signals.tell();
    if (current === "silent") return void waiting.add(response);
    if (current === "drop") return void incoming.socket.destroy();
    if (current === "cut") {
      response.writeHead(200, { "Content-Length": 1000 });
      response.write('{"half');
      return void setImmediate(() => incoming.socket.destroy());
    }
    write(response, typeof current === "function" ? current(request) : current);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    connections: () => connections,
    behave(as) {
      current = as;
    },
    release(answer) {
      current = answer;
      for (const response of waiting) write(response, answer);
      waiting.clear();
    },
    whenRequests: (count) => signals.until(() => requests.length >= count),
    async close() {
      for (const response of waiting) response.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<GatewayRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  const url = new URL(incoming.url ?? "/", "http://gateway");
  const query = Object.fromEntries(url.searchParams);
  const isJson = /json/.test(incoming.headers["content-type"] ?? "");
  return {
    method: incoming.method ?? "",
    path: url.pathname,
    query,
    headers: incoming.headers as Record<string, string>,
    body,
    fields: body && !isJson ? Object.fromEntries(new URLSearchParams(body)) : query,
    json: isJson ? JSON.parse(body) : undefined,
  };
}

function write(response: ServerResponse, { status, body = "", headers = {} }: GatewayAnswer): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "Content-Type": isText ? "text/plain" : "application/json", ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
