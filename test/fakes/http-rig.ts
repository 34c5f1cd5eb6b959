/** A channel to a fake gateway, on a clock that a test holds. */

import { afterEach, beforeEach } from "bun:test";
import type {
  CallbackReading,
  CallbackRequest,
  Channel,
  ChannelStatus,
  OutgoingSms,
} from "../../src/channels/channel.ts";
import { httpConnectorKind } from "../../src/channels/sms/http/http-connector.ts";
import type { Part } from "../../src/core/messages/message.ts";
import type { Connector } from "../../src/core/records/accounts.ts";
import { channelDeps } from "./channel-deps.ts";
import { type FakeGateway, type GatewayBehaviour, startFakeGateway } from "./fake-gateway.ts";
import { createHeldClock, type HeldClock } from "./held-clock.ts";

const PUBLIC_URL = "https://sms.acme.example";
const TOKEN = "token-of-the-callbacks";
const CONNECTOR_ID = "01890000-0000-7000-8000-000000000001";
export const MESSAGE_ID = "01890000-0000-7000-8000-00000000000a";
export const CALLBACK_URL = `${PUBLIC_URL}/receipts/${CONNECTOR_ID}/${TOKEN}`;

export function httpConnector(
  config: Record<string, unknown>,
  secrets: Record<string, string> = {},
): Connector {
  return {
    id: CONNECTOR_ID,
    name: "http",
    kind: "http",
    config,
    secrets: { callback_token: TOKEN, ...secrets },
    isEnabled: true,
    createdAt: 0,
  };
}

export interface HttpRig {
  readonly channel: Channel;
  readonly clock: HeldClock;
  readonly statuses: readonly ChannelStatus[];
  slotsTold(): number;
}

/** `publicUrl: null`: the service does not know its own address. A function is asked for it. */
export function openHttpRig(
  connector: Connector,
  { isStarted = true, publicUrl = PUBLIC_URL as string | null | (() => Promise<string>) } = {},
): HttpRig {
  const clock = createHeldClock();
  const statuses: ChannelStatus[] = [];
  let slots = 0;
  const deps = channelDeps({
    clock,
    onSlots: () => void slots++,
    onStatus: (status) => void statuses.push(status),
    publicUrl: typeof publicUrl === "function" ? publicUrl : async () => publicUrl ?? undefined,
  });
  const channel = httpConnectorKind.open(connector, deps);
  if (isStarted) channel.start();
  return { channel, clock, statuses, slotsTold: () => slots };
}

/** To be called where tests are defined: a gateway for each of them, which answers so at first. */
export function withGateway(behaviour?: GatewayBehaviour): () => FakeGateway {
  let gateway: FakeGateway;
  beforeEach(async () => {
    gateway = await startFakeGateway(behaviour);
  });
  afterEach(() => gateway.close());
  return () => gateway;
}

/** What a gateway answers that takes a message. */
export const ACCEPTED = { status: 200, body: { id: "a-1" } };

/** A channel to a gateway that is told the number alone, and answers with an id. `config`: of its connector. */
export function openPlain(url: string, config: Record<string, unknown> = {}): HttpRig {
  const gateway = { send: { url, json: { to: "{{to}}" } }, answer: { id: { json: "/id" } } };
  return openHttpRig(httpConnector({ provider: "custom", gateway, ...config }));
}

export function outgoingSms(over: Partial<OutgoingSms> = {}): OutgoingSms {
  const text = "Ihr Code ist 4711 & gilt 5 Minuten.";
  return {
    channel: "sms",
    messageId: MESSAGE_ID,
    accountId: "01890000-0000-7000-8000-0000000000ff",
    claim: 1,
    flow: 0,
    parts: [],
    remainingMs: 600_000,
    createdAt: 0,
    to: "+919876543210",
    from: "ACMEIN",
    text,
    content: {
      channel: "sms",
      dltTemplateId: "1107160000000000001",
      dltEntityId: "1101160000000000001",
      variables: { 1: "4711", 2: 5 },
      text,
    },
    ...over,
  };
}

export function partsOf(...statuses: Part["status"][]): readonly Part[] {
  return statuses.map((status) => ({ status }));
}

export const never = new AbortController().signal;

export interface Callback {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly form?: Record<string, string>;
  readonly json?: unknown;
}

/** Reads a callback as the connector's kind does, the token being right. */
export function readCallback(connector: Connector, callback: Callback): CallbackReading {
  const web = { get: async () => undefined };
  return httpConnectorKind.callbacks!.read(connector, toRequest(callback), web) as CallbackReading;
}

function toRequest({
  method = "POST",
  query = "",
  headers = {},
  body,
  form,
  json,
}: Callback): CallbackRequest {
  const type = form
    ? "application/x-www-form-urlencoded"
    : json !== undefined
      ? "application/json"
      : undefined;
  return {
    method,
    url: CALLBACK_URL + (query ? `?${query}` : ""),
    headers: new Headers({ ...(type && { "Content-Type": type }), ...headers }),
    body:
      body ?? (form ? new URLSearchParams(form).toString() : json === undefined ? "" : JSON.stringify(json)),
    receivedAt: 1_000,
  };
}
