import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import type { KeyOwner } from "../../core/records/api-key.ts";
import type { StoredSettings } from "../../core/records/settings.ts";

/** What operators maintain: accounts, keys, connectors, routes and the like (`RecordTypes`), settings, webhook secrets. */
export interface Records {
  /** `conflict` names the field that is taken, or the parent that does not exist. */
  create<K extends RecordKind>(
    kind: K,
    record: RecordTypes[K],
  ): Promise<"created" | { readonly conflict: string }>;
  /** The record with these values, all of them equal; by id, or by an indexed column. */
  find<K extends RecordKind>(kind: K, where: Partial<RecordTypes[K]>): Promise<RecordTypes[K] | undefined>;
  /** In order of id. */
  list<K extends RecordKind>(
    kind: K,
    where: Partial<RecordTypes[K]>,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly RecordTypes[K][]>;
  /** Changes a record if it still is as it was `read`: the changes may follow from that (ADR 31). */
  update<K extends RecordKind>(kind: K, read: RecordTypes[K], changes: RecordChanges<K>): Promise<Updated<K>>;
  /** False if there was none; `in_use` while others refer to it. */
  remove(kind: RecordKind, id: string): Promise<boolean | "in_use">;
  /** Whose API key it is, by its hex SHA-256, with the account's settings; `undefined` for unknown and for revoked keys. */
  findKeyOwner(digest: string): Promise<KeyOwner | undefined>;
  /** Settings of the account (`undefined`: of the instance), as far as they are set. */
  settings(accountId: string | undefined): Promise<StoredSettings>;
  /** Sets these settings, and unsets those that are `undefined`; all of them or none. Others stay as they are. False if there is no such account. */
  setSettings(accountId: string | undefined, values: SettingChanges): Promise<boolean>;
  /** Newest first; at most two are valid at a time. */
  webhookSecrets(accountId: string): Promise<readonly WebhookSecret[]>;
  /**
   * Adds a secret and drops all but the newest two. Changes nothing, and resolves with false, if `newest` is given and the
   * newest one was not made then: of two that are added at once, the second would drop the one in use. `undefined` if there
   * is no such account.
   */
  addWebhookSecret(accountId: string, secret: WebhookSecret, newest?: number): Promise<boolean | undefined>;
  /** Rises with every change to connectors, routes or settings, so that other processes know when to read them again. */
  version(): Promise<number>;
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

/** The record as it is now. In all other cases nothing was written; `undefined`: there is no such record. */
export type Updated<K extends RecordKind> =
  | RecordTypes[K]
  /** As with `Records.create`. */
  | { readonly conflict: string }
  /** Another change came first, and the record is now as it says. */
  | { readonly overtakenBy: RecordTypes[K] }
  | undefined;
