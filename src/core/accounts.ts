/** What an operator registers, as the rooms see it. Times are Unix milliseconds; ids are UUIDv7 unless said otherwise. */
import type { DltStatus, HeaderType } from "./dlt-registry.ts";
import type { SmsCategory } from "./sms-category.ts";
import type { PlaceholderKind } from "./template.ts";

export type AccountMode = "sandbox" | "live";

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
  /** With `{#var#}`, tagged placeholders or `{{1}}`. */
  readonly body: string;
  readonly dltTemplateId?: string;
  readonly dltEntityId?: string;
  /** Sender used when a request names none. */
  readonly from?: string;
  readonly category?: SmsCategory;
  /** What the portal tags the `{#var#}`s of the body as, in order; for portals that keep tags beside the text. */
  readonly variableTags?: readonly PlaceholderKind[];
  /** Sender ids the portal has linked to the template; absent: not known. */
  readonly linkedHeaders?: readonly string[];
  readonly status?: DltStatus;
  readonly createdAt: number;
}

/** A principal entity: who sends, in the operators' registry. */
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
  /** DLT template ids the header is linked to; absent: any of its entity. */
  readonly linkedDltTemplateIds?: readonly string[];
  readonly headerType?: HeaderType;
  readonly status?: DltStatus;
  readonly isDefault: boolean;
  readonly createdAt: number;
}

export interface Domain {
  readonly id: string;
  readonly accountId: string;
  /** Lower case. */
  readonly domain: string;
  /** Value of the ownership TXT record. */
  readonly ownershipToken: string;
  readonly dkimSelector: string;
  /** Base64 DER (SPKI), for the `p=` of the DKIM record. */
  readonly dkimPublicKey: string;
  /** PEM; sealed at rest. */
  readonly dkimPrivateKey: string;
  readonly verifiedAt?: number;
  readonly createdAt: number;
}

export type PushPlatform = "apns" | "fcm" | "web";

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

/** A configured way out. What `config` and `secrets` hold is up to the connector's kind. */
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

/** Which connectors, in which order, serve an account, a channel and a number prefix or a domain. Its id names its queue. */
export interface Route {
  readonly id: string;
  /** Absent: every live account. */
  readonly accountId?: string;
  readonly channel: "sms" | "email";
  /** SMS: digits after `+` the number starts with. Email: the recipient's domain. Empty: all. */
  readonly match: string;
  readonly connectorIds: readonly string[];
  readonly createdAt: number;
}

export interface Suppression {
  readonly id: string;
  readonly accountId: string;
  /** Lower case. */
  readonly email: string;
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
}

export type RecordKind = keyof RecordTypes;
