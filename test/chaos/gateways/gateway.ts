/** An HTTP gateway over real TCP that fails at random, by a seed. It remembers every request: the truth about what was sent. */
import * as net from "node:net";
import { keptPort } from "../../fakes/kept-port.ts";
import { createDice } from "../dice.ts";
import type { HandOver } from "../model.ts";
import { isOwed, type OwedReceipt, toOwed } from "../owed-receipts.ts";
import { receiptsOf } from "../smsc-fates.ts";
import { answerAs, isAnswered } from "./gateway-answers.ts";
import {
  connectionFateOf,
  type GatewayFate,
  gatewayFateOf,
  gatewaySays,
  isTakenBy,
  type Naming,
} from "./gateway-fates.ts";
import { requestsOn, type WireRequest } from "./http-wire.ts";
import { post, type Reporting, sendReports } from "./reports.ts";

/** A message, or a segment of one, as a gateway got it. */
export interface Requested extends HandOver {
  readonly fate: GatewayFate;
  readonly callbackUrl: string;
  readonly receipts: OwedReceipt[];
  readonly naming: Naming;
}

export interface ChaosGateway {
  readonly name: string;
  readonly url: string;
  readonly naming: Naming;
  readonly requests: readonly Requested[];
  /** What it was asked that it never should be, and what came of its reports that never should. */
  readonly problems: readonly string[];
  /** From now on everything is taken and answered. */
  beKind(): void;
  dropAll(): void;
  /** Closes all connections and its port, which it opens again after so long. */
  restart(ms: number): Promise<void>;
  /** From now on some reports go to this path, that of another callback URL. */
  shareReports(path: string): void;
  /** Reports of a message that it does not have. */
  inventReport(): Promise<void>;
  /** Reports, as if it were somebody else, that a message was lost. */
  forgeReport(): Promise<void>;
  /** Reports that are not stored yet. */
  owed(): number;
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly name: string;
  readonly seed: string;
  readonly naming: Naming;
  /** What requests are authorized with, and reports are signed with. */
  readonly secret: string;
  readonly now: () => number;
  readonly service: () => string | undefined;
}

interface Gateway {
  readonly options: GatewayOptions;
  readonly reporting: Reporting;
  readonly requests: Requested[];
  readonly problems: string[];
  readonly sockets: Set<net.Socket>;
  /** How often each number was sent to. */
  readonly times: Map<string, number>;
  connections: number;
  isKind: boolean;
}

/** How often it looks for reports that are due. */
const PUMP_MS = 20;

export async function startChaosGateway(options: GatewayOptions): Promise<ChaosGateway> {
  const { name, naming, secret, service } = options;
  const problems: string[] = [];
  const gateway: Gateway = {
    options,
    problems,
    reporting: { naming, secret, service, problems },
    requests: [],
    sockets: new Set(),
    times: new Map(),
    connections: 0,
    isKind: false,
  };
  const server = net.createServer((socket) => accept(gateway, socket));
  const port = await keptPort();
  await listen(server, port);
  const pump = setInterval(() => void sendReports(gateway.reporting, gateway.requests), PUMP_MS);
  const dropAll = () => {
    for (const socket of gateway.sockets) socket.destroy();
  };
  const shut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      dropAll();
    });
  return {
    name,
    naming,
    url: `http://127.0.0.1:${port}`,
    requests: gateway.requests,
    problems,
    dropAll,
    beKind() {
      gateway.isKind = true;
    },
    async restart(ms) {
      if (!server.listening) return;
      await shut();
      await Bun.sleep(ms);
      await listen(server, port);
    },
    shareReports(path) {
      gateway.reporting.otherPath = path;
    },
    inventReport: () => inventReport(gateway),
    forgeReport: () => forgeReport(gateway),
    owed: () => gateway.requests.flatMap(({ receipts }) => receipts.filter(isOwed)).length,
    async close() {
      clearInterval(pump);
      await shut();
    },
  };
}

function listen(server: net.Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}

function accept(gateway: Gateway, socket: net.Socket): void {
  const { options, isKind, sockets } = gateway;
  socket.on("error", () => {});
  const seed = `${options.seed}/${options.name}/connection/${gateway.connections++}`;
  const fate = isKind ? "serve" : connectionFateOf(seed);
  if (fate === "refuse") return void socket.destroy();
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket));
  // A client that resets the connection ends it with an error.
  serve(gateway, socket, fate === "cut").catch(() => {});
}

async function serve(gateway: Gateway, socket: net.Socket, isCut: boolean): Promise<void> {
  for await (const request of requestsOn(socket, isCut)) await handle(gateway, socket, request);
  socket.destroy();
}

/** What a request says, wherever it says it. */
interface Asked {
  readonly ref: string;
  readonly to: string;
  readonly text: string;
  readonly segments: string;
  readonly dlr: string;
}

async function handle(gateway: Gateway, socket: net.Socket, request: WireRequest): Promise<void> {
  const { options, problems, reporting } = gateway;
  const { url, headers, body } = request;
  if (url.pathname !== "/send" || headers.get("authorization") !== `Bearer ${options.secret}`)
    problems.push(`the ${options.name} gateway got ${url} with ${headers.get("authorization")}`);
  const asked = options.naming === "ours" ? Object.fromEntries(url.searchParams) : JSON.parse(body);
  const time = next(gateway, asked.to);
  const seed = `${seedOf(gateway)}/${asked.to}/${time}`;
  const requested = begin(gateway, asked, { seed, time });
  const fate = requested[0]!.fate;
  // Some reports precede the answer.
  if (requested.some(({ receipts }) => receipts.some(({ dueMs }) => dueMs === 0)))
    await Promise.race([sendReports(reporting, requested), Bun.sleep(BEFORE_MS)]);
  const ids = requested.map(({ messageId }) => messageId);
  const answering = { fate, ids, naming: options.naming, now: options.now, dice: createDice(seed) };
  const isWritten = await answerAs(socket, answering);
  if (isWritten && isAnswered(fate)) for (const each of requested) each.answeredAtMs = Date.now();
}

/** How long an answer waits for a report that precedes it. */
const BEFORE_MS = 300;

/** Counts the requests to a number, from 1. */
function next({ times }: Gateway, to: string): number {
  const time = (times.get(to) ?? 0) + 1;
  times.set(to, time);
  return time;
}

function seedOf({ options: { seed, name } }: Gateway): string {
  return `${seed}/${name}`;
}

/** One for each segment, where the gateway names them, or one for the message. */
function begin(
  gateway: Gateway,
  { ref, to, text, segments, dlr }: Asked,
  { seed, time }: { readonly seed: string; readonly time: number },
): readonly Requested[] {
  const { options, requests, isKind } = gateway;
  const { name, naming } = options;
  const fate = isKind ? "take" : gatewayFateOf(seedOf(gateway), { to, time });
  const isTaken = isTakenBy(fate);
  const isSplit = isTaken && naming === "each";
  const requested = Array.from({ length: isSplit ? Number(segments) : 1 }, (_, part): Requested => {
    const planned = isTaken ? receiptsOf(`${seed}/${part}`).receipts : [];
    return {
      peer: `${name} gateway`,
      to,
      text,
      segments: isSplit ? Number(segments) : 1,
      fate,
      isTaken,
      naming,
      callbackUrl: dlr,
      atMs: Date.now(),
      at: options.now(),
      says: gatewaySays(fate, naming),
      messageId: naming === "ours" ? ref : isTaken ? newId(options, requests.length + part) : "",
      receipts: planned.map(toOwed),
      partOf: (messageId) => (messageId !== ref ? undefined : isSplit ? part : "whole"),
    };
  });
  requests.push(...requested);
  return requested;
}

/** Numbers that JavaScript cannot hold, or hexadecimal ones with a zero in front. */
function newId({ name, naming }: GatewayOptions, index: number): string {
  // Those of two gateways differ, since they may be one account.
  const count = index + (name === "first" ? 0 : 0x1000);
  return naming === "one"
    ? `90071992547409${93_001 + count}`
    : `0${(0xa0_0000 + count).toString(16)}`.toUpperCase();
}

async function inventReport({ options, requests, problems }: Gateway): Promise<void> {
  const callbackUrl = requests.at(-1)?.callbackUrl;
  if (!callbackUrl) return;
  const id = options.naming === "ours" ? crypto.randomUUID() : "0FFFFFFF";
  const status = await post(options, withId(callbackUrl, id), [{ id, to: "+447700199999", state: "LOST" }]);
  if (status !== undefined && status !== 200 && status !== 503)
    problems.push(`a report of an unknown message is answered with ${status}`);
}

async function forgeReport({ options, requests, problems }: Gateway): Promise<void> {
  const last = requests.findLast(({ messageId }) => messageId !== "");
  if (!last) return;
  const { callbackUrl, messageId: id, to } = last;
  // Where reports are not signed, the token in the URL proves who sends them.
  const url =
    options.naming === "ours"
      ? callbackUrl.replace(/[^/?]+(\?|$)/, "no-such-token-of-anybody$1")
      : callbackUrl;
  const status = await post({ ...options, secret: "guessed" }, url, [{ id, to, state: "LOST" }]);
  if (status !== undefined && ![401, 404, 503].includes(status))
    problems.push(`a forged report of ${id} is answered with ${status}`);
}

function withId(callbackUrl: string, id: string): string {
  return callbackUrl.replace(/([?&]id=)[^&]*/, `$1${id}`);
}
