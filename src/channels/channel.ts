/**
 * A way out. The delivery engine knows providers only through this file; `channel.contract.ts` says what every
 * implementation owes it.
 */
import type { KeyObject } from "node:crypto";
import Type, { type TSchema } from "typebox";
import type { ConnectorHealth } from "../core/alarms/connector-health.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { ReceivedSms } from "../core/inbound/inbound.ts";
import type { EmailContent, Part, SmsContent } from "../core/messages/message.ts";
import type { Receipt, SendOutcome } from "../core/messages/outcome.ts";
import type { LateAnswer } from "../core/receipts/late-answer.ts";
import type { Connector } from "../core/records/accounts.ts";
import type { ReturnPaths } from "./email/return-path.ts";
import type { ComposeAside } from "./email/smtp/compose-large.ts";
import type { MailPolicies, Network } from "./network.ts";

export interface Channel {
  readonly connectorId: string;
  /** Longest time one `send` may take, milliseconds. Leases outlast it. */
  readonly sendTimeoutMs: number;
  /** It keeps `max_per_second` itself, segment by segment; otherwise the engine does, message by message. */
  readonly keepsRate?: true;
  /** So many of the messages under way may be large (`core/email/large-body.ts`); absent: four. */
  readonly largeAtATime?: number;
  /** It speaks to many hosts, each message to others: what one of them answers says nothing of the connector. */
  readonly reachesMany?: true;
  /** Begins to connect, and keeps connected; returns at once and never throws. */
  start(): void;
  /** How many messages may be handed over now. 0 while not connected, paused, or full. */
  freeSlots(): number;
  /**
   * Hands one message to the provider, once. Never throws: whatever happens is an outcome. On abort it stops
   * waiting and reports what it knows (`unconfirmed` for what was fully written and not answered).
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome>;
  /** How many parts an SMS is sent in; absent: one. `undefined` where it can never be sent. */
  partsOf?(message: OutgoingSms): number | undefined;
  /**
   * Asks the provider what became of parts it took; where it can be asked. Resolves with what is final by now, in any
   * order; a part that is not, or of which there is no answer, is left out. Never throws, and ends early on abort.
   */
  query?(parts: readonly QueriedPart[], signal: AbortSignal): Promise<readonly Receipt[]>;
  /** Takes no more, waits for answers under way (bounded), closes. */
  stop(): Promise<void>;
  status(): ChannelStatus;
}

export interface ChannelStatus {
  readonly state: "stopped" | "connecting" | "up" | "down";
  /** Since when, Unix milliseconds. */
  readonly since: number;
  /** Why it is down, or not all of it is up, in words for the operator. */
  readonly reason?: string;
  /** Connections that are up, and how many there are to be, where they are kept up. */
  readonly binds?: { readonly up: number; readonly of: number };
  /** What it sends at the most now, a second. `isReduced`: the provider has asked for less than is configured. */
  readonly rate?: { readonly perSecond: number; readonly isReduced: boolean };
  /** What somebody has to see to; it does not mend itself. */
  readonly alarm?: "bind_refused" | "credentials_refused";
}

/** As the delivery engine knows it. */
export interface ConnectorStatus extends ChannelStatus {
  readonly health?: ConnectorHealth;
}

export interface QueriedPart {
  /** As the provider wrote it: `Part.providerMessageId`. */
  readonly providerMessageId: string;
  /** The sender it went out with, where the message named one. */
  readonly from?: string;
}

export type OutgoingMessage = OutgoingSms | OutgoingEmail;

interface Outgoing {
  readonly messageId: string;
  readonly accountId: string;
  /** The message's parts so far; those neither `pending` nor `unconfirmed` are not to be sent again. */
  readonly parts: readonly Part[];
  /** Indexes this attempt covers; absent: all that are still to be sent. */
  readonly only?: readonly number[];
  /** 1 for the first attempt that reaches the wire. */
  readonly attempt: number;
  /** Milliseconds left of the delivery window: the validity period. */
  readonly remainingMs: number;
  readonly createdAt: number;
}

export interface OutgoingSms extends Outgoing {
  readonly channel: "sms";
  /** E.164, with `+`. */
  readonly to: string;
  readonly from?: string;
  /** Rendered; absent where the provider (or the simulator) works from the template ids. */
  readonly text?: string;
  readonly content: SmsContent;
}

export interface OutgoingEmail extends Outgoing {
  readonly channel: "email";
  readonly content: EmailContent;
  /** For signing, with each of them; absent where the domain has no key. A text is PEM. */
  readonly dkim?: readonly {
    readonly domain: string;
    readonly selector: string;
    readonly privateKey: KeyObject | string;
  }[];
  /** Whose addresses bounces can be sent to; absent: they go to the sender. */
  readonly returnPathHost?: string;
}

/** This process's part of a connector that several processes have together. */
export interface Share {
  /** Slots of the connector in all: binds where it has binds, else equal parts of its rate. */
  readonly of: number;
  /** Numbers of the slots that this process may use now, from 0. */
  held(): ReadonlySet<number>;
  /**
   * Calls `listener` when `held` has changed. What is no longer held is given to another process when its promise
   * has resolved; with `limitMs`, nothing may go on after so many milliseconds.
   */
  onChange(listener: (limitMs?: number) => Promise<void>): void;
}

/** What a channel is given by the composition root. */
export interface ChannelDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ChannelLog;
  /** Called when `freeSlots` may have grown. */
  readonly onSlots: () => void;
  /** Absent: the whole connector is this process's. */
  readonly share?: Share;
  /** Stores receipts; resolves when they are durable. Only then may they be acknowledged. */
  readonly onReceipts: (receipts: readonly Receipt[]) => Promise<void>;
  /** Stores messages from handsets; resolves when they are durable. Only then may they be acknowledged. Absent: refuse. */
  readonly onInbound?: (messages: readonly ReceivedSms[]) => Promise<void>;
  /** Called on every change of `status().state`. */
  readonly onStatus: (status: ChannelStatus) => void;
  /** The provider took a part that was reported as `unconfirmed`; it may have been sent again since. */
  readonly onLateAnswer?: (answer: LateAnswer) => void;
  /** For channels that find the hosts to talk to by themselves. */
  readonly network?: Network;
  /** Absent: what domains publish is forgotten when the process ends. */
  readonly mailPolicies?: MailPolicies;
  /** Makes the addresses that bounces come back to; absent: nobody listens for them. */
  readonly returnPaths?: ReturnPaths;
  /** Makes large mail on another thread; absent: it is made here, and the others wait meanwhile. */
  readonly composeAside?: ComposeAside;
  /** Where providers reach this service, without a slash at the end; absent or `undefined`: not known. */
  readonly publicUrl?: () => Promise<string | undefined>;
}

export interface ChannelLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  debug(fields: Record<string, unknown>, message: string): void;
}

/** In every kind's configuration; kept to by the channel where it `keepsRate`, else by the delivery engine. */
export const MAX_PER_SECOND = Type.Optional(
  Type.Number({
    exclusiveMinimum: 0,
    maximum: 100_000,
    description: "Segments (SMS) or emails a second at the most; absent: without limit",
  }),
);

/** A kind of connector: how its configuration looks, how to open and how to try it. */
export interface ConnectorKind {
  readonly kind: string;
  readonly channel: "sms" | "email";
  /** JSON schema (typebox object) of `Connector.config`, with defaults. snake_case, as the admin API shows it. */
  readonly config: TSchema;
  /** Names of the fields kept in `Connector.secrets`, all optional strings. */
  readonly secrets: readonly string[];
  /** What the schema cannot say of a configuration that fits it, by field; empty when it is good. */
  problems?(settings: Pick<Connector, "config" | "secrets">): Readonly<Record<string, string>>;
  open(connector: Connector, deps: ChannelDeps): Channel;
  /** Connects, authenticates, says goodbye; sends nothing. At most 15 s. `reach`: for kinds that find their hosts by themselves. */
  check(
    connector: Connector,
    clock: Clock,
    reach?: CheckReach,
  ): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** How many slots its connectors have, of which one process at a time uses each; absent: only their rate is shared. */
  slots?(connector: Connector): number;
  /** True where the provider renders the text by its template id, so that a template unknown here is no obstacle. */
  rendersTemplates?(connector: Connector): boolean;
  /** Present where providers report deliveries by HTTP requests to `callbackPath`. */
  readonly callbacks?: Callbacks;
}

export interface CheckReach {
  readonly network: Network;
  /** Whose hosts are to be tried; absent: the kind chooses. */
  readonly domain?: string;
}

export interface Callbacks {
  /** Which of the connector's secrets ends the path. Made with the connector; 16 to 128 of `A-Za-z0-9_-`. */
  readonly tokenSecret: string;
  /** False for a connector whose provider reports nothing: it has no path. Absent: every one has. */
  isUsedBy?(config: Connector["config"]): boolean;
  /** Reads one request whose token was right. Stores nothing: the caller stores the receipts, and only then answers. */
  read(connector: Connector, request: CallbackRequest, web: Web): CallbackReading | Promise<CallbackReading>;
}

/** What a callback's reader may fetch: a signer's certificate. */
export interface Web {
  /** A GET over HTTPS, without redirects, of at most 64 KiB and within 10 s; `undefined` for all but a 200. */
  get(url: URL): Promise<string | undefined>;
}

export interface CallbackRequest {
  readonly method: string;
  /** As the provider called it, query included: what signatures are made over. */
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  /** Unix milliseconds when it came. */
  readonly receivedAt: number;
}

export type CallbackReading =
  | {
      readonly kind: "receipts";
      /** None, where it tells of nothing we keep. */
      readonly receipts: readonly Receipt[];
      /** What handsets wrote, where it tells of that. */
      readonly inbound?: readonly ReceivedSms[];
      /** What the provider wants to hear once they are stored. */
      readonly answer: { readonly status: number; readonly body: string; readonly contentType: string };
    }
  /** 400: cannot be read. 401: its signature or password is missing or wrong. */
  | { readonly kind: "refused"; readonly status: 400 | 401; readonly reason: string };

/** Where a connector's callbacks arrive, below the public URL. */
export function callbackPath(connectorId: string, token: string): string {
  return `/receipts/${connectorId}/${token}`;
}
