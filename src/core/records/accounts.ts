/** The records that operators keep. Times are Unix milliseconds; ids are UUIDv7 unless said otherwise. */
import type { DltStatus, HeaderType } from "../dlt/dlt-registry.ts";
import type { Domain } from "../domains/domain.ts";
import type { ChannelName } from "../messages/message.ts";
import type { SmsCategory } from "../sms/sms-category.ts";
import type { PlaceholderKind } from "../sms/template.ts";
import type { SuppressionReason } from "../suppressions/suppression.ts";

export const ACCOUNT_MODES = ["sandbox", "live"] as const;
export type AccountMode = (typeof ACCOUNT_MODES)[number];

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly mode: AccountMode;
  readonly createdAt: number;
}

export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name?: string;
  /** The first 12 characters, to show. */
  readonly prefix: string;
  /** Hex SHA-256 of the whole key. The key itself is never stored. */
  readonly digest: string;
  readonly createdAt: number;
  readonly revokedAt?: number;
}

export interface SmsTemplate {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The text, with placeholders: `{#var#}`, tagged ones or `{{1}}`. */
  readonly body: string;
  readonly dltTemplateId?: string;
  readonly dltEntityId?: string;
  /** The sender if a request names none. */
  readonly from?: string;
  readonly category?: SmsCategory;
  /** The tags of the `{#var#}`s in the body, in order, if the portal does not keep them in the text. */
  readonly variableTags?: readonly PlaceholderKind[];
  /** The sender ids that the portal has linked to the template; absent: not known. */
  readonly linkedHeaders?: readonly string[];
  readonly status?: DltStatus;
  readonly createdAt: number;
}

/** A principal entity (PE): the sender in the operators' registry. */
export interface DltEntity {
  readonly id: string;
  readonly accountId: string;
  /** As registered, usually 19 digits. */
  readonly entityId: string;
  readonly name?: string;
  readonly status?: DltStatus;
  /** Beginnings of the links that are registered for it; absent: not known, and not judged. */
  readonly whitelistedUrls?: readonly string[];
  /** Call-back numbers that are registered for it; absent: not known, and not judged. */
  readonly callbackNumbers?: readonly string[];
  readonly createdAt: number;
}

/** An SMS sender id (DLT header). */
export interface Sender {
  readonly id: string;
  readonly accountId: string;
  readonly senderId: string;
  readonly dltEntityId?: string;
  /** The ids of the DLT templates that the header is linked to; absent: any template of its entity. */
  readonly linkedDltTemplateIds?: readonly string[];
  readonly headerType?: HeaderType;
  readonly status?: DltStatus;
  readonly isDefault: boolean;
  readonly createdAt: number;
}

export const PUSH_PLATFORMS = ["apns", "fcm", "web"] as const;
export type PushPlatform = (typeof PUSH_PLATFORMS)[number];

export interface PushApp {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly platforms: readonly PushPlatform[];
  readonly createdAt: number;
}

export interface Contact {
  readonly id: string;
  readonly accountId: string;
  /** Absent on an anonymous contact. */
  readonly externalId?: string;
  readonly createdAt: number;
}

/** A configured channel. Its kind decides what `config` and `secrets` hold. */
export interface Connector {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Sealed at rest; never shown. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly isEnabled: boolean;
  readonly createdAt: number;
}

export const FAILOVERS = ["safe", "always"] as const;

/** Which connectors, in which order, send the messages that meet its conditions. Its id names its queue. */
export interface Route {
  readonly id: string;
  /** Absent: every live account. */
  readonly accountId?: string;
  readonly channel: ChannelName;
  /** SMS: the digits that the number starts with, after the `+`. Email: the recipient's domain. Empty: all recipients. */
  readonly match: string;
  /** SMS: the sender id that goes out. Email: the domain of the From address, lower case. Absent: any. */
  readonly sender?: string;
  /** SMS: the category of the template. Absent: any category, and none. */
  readonly category?: SmsCategory;
  /** In the order in which they are tried. */
  readonly connectorIds: readonly string[];
  /** By connector id. Neighbours in the order that have a weight share a place in it, and its messages in proportion. */
  readonly weights?: Readonly<Record<string, number>>;
  /** `always`: a message that one connector may have taken may go over another. `safe`, or absent: it may not. */
  readonly failover?: (typeof FAILOVERS)[number];
  readonly createdAt: number;
}

export interface Suppression {
  readonly id: string;
  readonly accountId: string;
  /** In lower case; after the recipient was erased, a text that `isErased` recognises. */
  readonly email: string;
  readonly reason: SuppressionReason;
  /** Its origin: the id of a message, or the words of the operator who added it. */
  readonly source?: string;
  /** When it ends by itself, Unix milliseconds; absent: never. */
  readonly expiresAt?: number;
  readonly createdAt: number;
}

/** A number or short code that handsets write to, and the account that has it. */
export interface InboundNumber {
  readonly id: string;
  readonly accountId: string;
  /** As `toInboundAddress` writes it. */
  readonly number: string;
  /** Absent: messages may come through any connector. */
  readonly connectorId?: string;
  readonly createdAt: number;
}

/** A recipient who has opted out of SMS. */
export interface OptOut {
  readonly id: string;
  readonly accountId: string;
  /** As `senderKey` writes it; absent: every sender of the account. */
  readonly sender?: string;
  /** E.164; after the number was erased, a text that `isErased` recognises. */
  readonly recipient: string;
  readonly reason: string;
  readonly createdAt: number;
}

export interface RecordTypes {
  accounts: Account;
  apiKeys: ApiKey;
  smsTemplates: SmsTemplate;
  senders: Sender;
  dltEntities: DltEntity;
  domains: Domain;
  pushApps: PushApp;
  contacts: Contact;
  connectors: Connector;
  routes: Route;
  suppressions: Suppression;
  inboundNumbers: InboundNumber;
  optOuts: OptOut;
}

export type RecordKind = keyof RecordTypes;
