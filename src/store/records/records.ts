import type { Account, RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import type { KeyOwner } from "../../core/records/api-key.ts";
import type { StoredSettings } from "../../core/records/settings.ts";
import type { RecordSearch } from "./record-search.ts";

export type { RecordSearch } from "./record-search.ts";

/** What operators maintain: accounts, keys, connectors, routes and the like (`RecordTypes`), settings, webhook secrets. */
export interface Records {
  create<K extends RecordKind>(kind: K, record: RecordTypes[K]): Promise<"created" | Conflict>;
  /** Creates an account together with its first webhook secret, or neither: without one, its webhooks could not be signed. */
  createAccount(account: Account, webhookSecret: string): Promise<"created" | Conflict>;
  /** The record that has all of these values. One of them has to be its id, or indexed. */
  find<K extends RecordKind>(kind: K, where: Partial<RecordTypes[K]>): Promise<RecordTypes[K] | undefined>;
  /** In order of id: those that have all of these values, and that the search finds if there is one. */
  list<K extends RecordKind>(
    kind: K,
    where: Partial<RecordTypes[K]>,
    page: RecordPage<K>,
  ): Promise<readonly RecordTypes[K][]>;
  /** Changes a record, if it is still as it was `read`: the changes may follow from what was read (ADR 31). */
  update<K extends RecordKind>(kind: K, read: RecordTypes[K], changes: RecordChanges<K>): Promise<Updated<K>>;
  /** False if there is no such record; `in_use` if others refer to it. */
  remove(kind: RecordKind, id: string): Promise<boolean | "in_use">;
  /** The owner of an API key, by the key's hex SHA-256; `undefined` for an unknown or revoked key. */
  findKeyOwner(digest: string): Promise<KeyOwner | undefined>;
  /** The settings of the account, or with `undefined` those of the instance; only those that are set. */
  settings(accountId: string | undefined): Promise<StoredSettings>;
  /** Sets these settings, or unsets those that are `undefined`; all or none. False if there is no such account. */
  setSettings(accountId: string | undefined, values: SettingChanges): Promise<boolean>;
  /** The account's secrets, newest first: at most two, which are all valid. */
  webhookSecrets(accountId: string): Promise<readonly WebhookSecret[]>;
  /**
   * Adds a secret, and drops all but the newest two. If `newest` is given and the newest secret was not made at that time,
   * changes nothing and resolves with false: of two secrets that are added at once, the second would drop the one in use.
   * `undefined` if there is no such account.
   */
  addWebhookSecret(accountId: string, secret: WebhookSecret, newest?: number): Promise<boolean | undefined>;
  /** A number that rises with every change to connectors, routes or settings, so that processes know when to read them again. */
  version(): Promise<number>;
}

/** Nothing was written. */
export interface Conflict {
  /** The field whose value another record has, or that refers to a record that does not exist. */
  readonly conflict: string;
}

export interface RecordPage<K extends RecordKind> {
  /** The id of the record after which the page begins. */
  readonly after?: string;
  readonly limit: number;
  /** No index helps it: it goes through the records, as far as the page needs. */
  readonly search?: RecordSearch<K>;
}

export interface WebhookSecret {
  readonly secret: string;
  readonly createdAt: number;
}

/** New values by setting; `undefined` unsets. */
export type SettingChanges = Readonly<Record<string, string | undefined>>;

/** `null` clears an optional field. */
export type RecordChanges<K extends RecordKind> = {
  readonly [F in keyof RecordTypes[K]]?: RecordTypes[K][F] | null;
};

/** The record as it is now. Otherwise nothing was written; `undefined`: there is no such record. */
export type Updated<K extends RecordKind> =
  | RecordTypes[K]
  | Conflict
  /** Another change came first; this is the record now. */
  | { readonly overtakenBy: RecordTypes[K] }
  | undefined;
