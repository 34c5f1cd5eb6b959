/**
 * A channel is a way out: SMPP, an HTTP gateway, SMTP, the simulator. The delivery engine knows providers only through this file;
 * `channel.contract.ts` tests what every implementation has to do.
 */
import Type, { type TSchema } from "typebox";
import type { ConnectorHealth } from "../core/alarms/connector-health.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { InboundSpan, ReceivedSms } from "../core/inbound/inbound.ts";
import type { Log } from "../core/log.ts";
import type { ChannelName, EmailContent, Part, SmsContent } from "../core/messages/message.ts";
import type { Receipt, SendOutcome } from "../core/messages/outcome.ts";
import type { LateAnswer, LateRefusal } from "../core/receipts/late-answer.ts";
import type { Connector } from "../core/records/accounts.ts";
import type { SmsSegments } from "../core/sms/sms-segments.ts";
import type { MailPolicyStore, Question } from "../store/store.ts";
import type { DkimKey } from "./email/dkim/sign-mail.ts";
import type { ComposeLarge } from "./email/mail/compose-large.ts";
import type { PartAddresses } from "./email/part-address.ts";
import type { Network } from "./network.ts";

export interface Channel {
  readonly connectorId: string;
  /** The longest time that one `send` may take, milliseconds. Leases outlast it. */
  readonly sendTimeoutMs: number;
  /** The channel itself keeps to `max_per_second`, segment by segment. Absent: the delivery engine does, message by message. */
  readonly keepsRate?: true;
  /** How many large messages (`core/email/large-body.ts`) may be under way at a time; absent: four. */
  readonly largeAtATime?: number;
  /** The channel talks to the hosts of many recipients, so the answer of one of them says nothing about the connector. */
  readonly reachesMany?: true;
  /** Nothing leaves the machine: what fails was meant to. */
  readonly isSimulated?: true;
  /** Begins to connect, and keeps connected from then on. Returns at once and never throws. */
  start(): void;
  /** How many messages may be handed over now; 0 while the channel is not connected, is paused, or is full. */
  freeSlots(): number;
  /**
   * Hands one message to the provider, once. Never throws: whatever happens is an outcome. On abort it stops waiting and reports
   * what it knows: `unconfirmed` for parts that were completely written and not answered. A part that had to wait is only begun
   * if `isOurs` is true at that time (absent: it always is); if not, another process may have taken the message over.
   */
  send(message: OutgoingMessage, signal: AbortSignal, isOurs?: () => boolean): Promise<SendOutcome>;
  /** In how many parts an SMS is sent; `undefined` if it can never be sent. A channel without this method sends it in one. */
  partsOf?(message: OutgoingSms): number | undefined;
  /**
   * Asks the provider what became of parts that it took; absent if it cannot be asked now. Resolves with receipts for the parts that
   * are final by now, in any order. Leaves out parts that are not final, or got no answer. Never throws, and ends early on abort.
   */
  readonly query?:
    | ((parts: readonly QueriedPart[], signal: AbortSignal) => Promise<readonly Receipt[]>)
    | undefined;
  /**
   * Goes on with changed settings of its connector if that needs no new connection. False if it does: then nothing has changed, and
   * the connector is to be reopened, as it always is for a channel without this method.
   */
  applySettings?(connector: Connector): boolean;
  /** Takes no more messages, waits for outstanding answers (no longer than for any other, nor once they are called off), and closes. */
  stop(): Promise<void>;
  status(): ChannelStatus;
}

export const CHANNEL_STATES = ["stopped", "connecting", "up", "down"] as const;
export const CHANNEL_ALARMS = ["bind_refused", "credentials_refused"] as const;

export interface ChannelStatus {
  readonly state: (typeof CHANNEL_STATES)[number];
  /** Since when it has been in this state, Unix milliseconds. */
  readonly since: number;
  /** Why it is down, or only partly up, in words for the operator. Absent while it connects and has not failed before. */
  readonly reason?: string;
  /** For channels that keep connections up: how many are up, and how many there should be. */
  readonly binds?: { readonly up: number; readonly of: number };
  /** The most that it sends per second at present. `isReduced`: the provider has asked for less than is configured. */
  readonly rate?: { readonly perSecond: number; readonly isReduced: boolean };
  /** A fault that does not go away by itself: an operator has to act. */
  readonly alarm?: (typeof CHANNEL_ALARMS)[number];
}

/** The channel's status, together with what the delivery engine knows. */
export interface ConnectorStatus extends ChannelStatus {
  readonly health?: ConnectorHealth;
}

/** What a provider is asked about; see `ReceiptStore.takeQuestions`. */
export type QueriedPart = Pick<Question, "providerMessageId" | "from">;

export type OutgoingMessage = OutgoingSms | OutgoingEmail;

interface Outgoing {
  readonly messageId: string;
  readonly accountId: string;
  /** The message's parts so far. Only those that are `pending` or `unconfirmed` may be sent (again). */
  readonly parts: readonly Part[];
  /** Indexes of the parts that this attempt covers; absent: all that may be sent. */
  readonly only?: readonly number[];
  /** Milliseconds that are left of the delivery window; the validity period to ask for. */
  readonly remainingMs: number;
  readonly createdAt: number;
}

export interface OutgoingSms extends Outgoing {
  readonly channel: "sms";
  /** The claim of its job, which tells this attempt from others at the message. */
  readonly claim: number;
  /** The flow of its job: the messages of one flow must not hold up those of another. */
  readonly flow: number;
  /** E.164, with `+`. */
  readonly to: string;
  /** The sender id to send with; absent: the connector's. */
  readonly from?: string;
  /** The rendered text; absent if the provider (or the simulator) works from the template ids. */
  readonly text?: string;
  /** The text by the other value of `sms_transliterate`: segments that were sent may be of it. Absent: none were, or it is the same. */
  readonly otherText?: string;
  readonly content: SmsContent;
}

export interface OutgoingEmail extends Outgoing {
  readonly channel: "email";
  readonly content: EmailContent;
  /** The keys to sign with, each of which makes a signature; absent if the domain has none. */
  readonly dkim?: readonly DkimKey[];
  /** The host whose addresses bounces are sent to; absent: they go to the sender. */
  readonly returnPathHost?: string;
}

/** This process's share of a connector that several processes use. */
export interface Share {
  /** How many slots the connector has in all. A slot is a bind or, for connectors without binds, an equal part of the rate. */
  readonly of: number;
  /** The numbers, from 0, of the slots that this process may use now. */
  held(): ReadonlySet<number>;
  /**
   * Calls `listener` when `held` has changed. A slot that is no longer held goes to another process once the listener's promise
   * has resolved. With `limitMs`, nothing may use it any more after that many milliseconds.
   */
  onChange(listener: (limitMs?: number) => Promise<void>): void;
}

/**
 * What the channels of one connector leave to the next one, as long as the connector exists: what `make` made for the first of
 * them, or makes now.
 */
export type ConnectorMemory = <Kept>(make: () => Kept) => Kept;

/** What a channel is given by the composition root. */
export interface ChannelDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ChannelLog;
  /** Called when `freeSlots` may have grown. */
  readonly onSlots: () => void;
  /** Absent: only this process uses the connector. */
  readonly share?: Share;
  /** An earlier channel of the connector, of this process or one before, may have used up the rate of this second. */
  readonly isRateUsed: boolean;
  readonly memory: ConnectorMemory;
  /** Stores receipts. They may be acknowledged only once this has resolved, and so made them durable. */
  readonly onReceipts: (receipts: readonly Receipt[]) => Promise<void>;
  /** Stores messages from handsets, which may be acknowledged only once this has resolved. */
  readonly onInbound: (messages: readonly ReceivedSms[]) => Promise<void>;
  /** The provider is known to have the acknowledgements of what came then. */
  readonly onInboundKnown: (span: Omit<InboundSpan, "connectorId">) => Promise<void>;
  /** Called on every change of `status().state`. */
  readonly onStatus: (status: ChannelStatus) => void;
  /** Reports that a part whose outcome was `unconfirmed` had been taken, or refused; resolves once that is stored. It may have been sent again since. */
  readonly onLateAnswer: (answer: LateAnswer | LateRefusal) => Promise<void>;
  /** What only email takes. */
  readonly mail: MailDeps;
  /** The URL at which providers reach this service, without a slash at the end; `undefined`: not known. */
  readonly publicUrl: () => Promise<string | undefined>;
}

export interface MailDeps {
  /** For channels that look up the hosts that they talk to. */
  readonly network: Network;
  /** Keeps the policies that domains publish. */
  readonly policies: MailPolicyStore;
  /** Makes the addresses that bounces come back to. */
  readonly returnPaths: PartAddresses;
  readonly composeLarge: ComposeLarge;
}

export type ChannelLog = Pick<Log, "debug" | "info" | "warn">;

/** A field of every kind's configuration. The channel keeps to it if it `keepsRate`; otherwise the delivery engine does. */
export const MAX_PER_SECOND = Type.Optional(
  Type.Number({
    exclusiveMinimum: 0,
    maximum: 100_000,
    description: "Most segments (SMS) or emails per second; absent: no limit",
  }),
);

/** A kind of connector: what its configuration looks like, how to open one, and how to check it. */
export interface ConnectorKind {
  readonly kind: string;
  readonly channel: ChannelName;
  /** JSON schema (a typebox object) of `Connector.config`, with defaults; snake_case, as the admin API shows it. */
  readonly config: TSchema;
  /** The fields of `Connector.secrets`, all optional strings, and what each is for. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The problems that the schema cannot express, by field, of a configuration that fits it; empty if there are none. */
  problems?(settings: Pick<Connector, "config" | "secrets">): Readonly<Record<string, string>>;
  /** Throws if the configuration does not fit the schema: another version of the program may have stored it. */
  open(connector: Connector, deps: ChannelDeps): Channel;
  /** Connects, authenticates and disconnects, within 15 s; sends nothing. `reach`: for kinds that look up their hosts. */
  check(
    connector: Connector,
    clock: Clock,
    reach?: CheckReach,
  ): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** Where `check` sends secrets to. Absent: any field of `config` may decide it, and any secret be sent. */
  readonly destination?: {
    /** The fields of `config` that decide it, or who can read it on the way. Absent: any may. */
    readonly fields?: readonly string[];
    /** The secrets that are sent. */
    readonly secrets: readonly string[];
  };
  /** How many slots a connector has, each for one process at a time. Absent: processes only share its rate. */
  slots?(connector: Connector): number;
  /** Whether the provider renders the text from the template id, so that the template need not be known here. */
  rendersTemplates?(connector: Connector): boolean;
  /** The segments in which a text is sent. Absent: those of `segmentSms`, with its defaults. */
  segments?(connector: Connector, text: string): SmsSegments;
  /** Present if providers report deliveries by HTTP requests to `callbackPath`. */
  readonly callbacks?: Callbacks;
}

export interface CheckReach {
  readonly network: Network;
  /** The domain whose hosts are tried; absent: the kind chooses a domain. */
  readonly domain?: string;
}

export interface Callbacks {
  /** The name of the secret that the path ends in. It is made with the connector: 16 to 128 of `A-Za-z0-9_-`. */
  readonly tokenSecret: string;
  /** False for a connector whose provider reports nothing, so that it has no path. Absent: every connector has one. */
  isUsedBy?(config: Connector["config"]): boolean;
  /** Reads a request whose token was right. Stores nothing: the caller stores the receipts, and answers only then. */
  read(connector: Connector, request: CallbackRequest, web: Web): CallbackReading | Promise<CallbackReading>;
}

/** Fetches, for the reader of a callback, the certificate that it is signed with. */
export interface Web {
  /** The body of a GET over HTTPS: no redirects, at most 64 KiB, within 10 s; `undefined` for anything but a 200. */
  get(url: URL): Promise<string | undefined>;
}

export interface CallbackRequest {
  readonly method: string;
  /** The URL as the provider called it, query included: signatures are made over it. */
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  /** When the request arrived, Unix milliseconds. */
  readonly receivedAt: number;
}

export type CallbackReading =
  | {
      readonly kind: "receipts";
      /** Empty if the callback reports nothing that is kept. */
      readonly receipts: readonly Receipt[];
      /** Messages from handsets, if it brings any. */
      readonly inbound?: readonly ReceivedSms[];
      /** It brings something, but neither a receipt that names a message nor a message from a handset. */
      readonly isNameless?: boolean;
      /** The answer that the provider expects once they are stored. */
      readonly answer: { readonly status: number; readonly body: string; readonly contentType: string };
    }
  /** 400: it cannot be read. 401: its signature or password is missing or wrong. */
  | {
      readonly kind: "refused";
      readonly status: 400 | 401;
      readonly reason: string;
      /** The provider has signed it, but at a time that is too far from this machine's. */
      readonly isOutOfTime?: true;
    };

/** Where a connector's callbacks arrive, below the public URL. */
export function callbackPath(connectorId: string, token: string): string {
  return `/receipts/${connectorId}/${token}`;
}
