import type { RecordKind, RecordTypes } from "../../core/accounts.ts";
import { RECORD_TABLES, type RecordTable } from "../record-tables.ts";
import type { RecordValues } from "../record-values.ts";
import type { Records } from "../store.ts";
import type { Vault } from "../vault.ts";
import type { AccountBook } from "./account-book.ts";
import type { Database } from "./database.ts";
import type { Meta } from "./meta.ts";
import type { OptOutBook } from "./opt-outs.ts";
import { createRecordRows, type RecordRows } from "./record-rows.ts";
import { createSettings } from "./settings.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export interface RecordParts {
  readonly vault: Vault;
  readonly accounts: AccountBook;
  readonly optOuts: OptOutBook;
  readonly values: RecordValues;
  readonly meta: Meta;
  readonly webhookSecrets: WebhookSecrets;
}

export function createRecords(db: Database, parts: RecordParts): Records {
  const rows = createRecordRows(db, parts.values);
  const settings = createSettings(db, parts.vault);
  const change = <T>(kind: RecordKind, work: () => T): Promise<T> =>
    db.write(() => {
      const done = work();
      noteChange(parts, RECORD_TABLES[kind]);
      return done;
    });

  return {
    create: (kind, record) => change(kind, () => rows.insert(kind, record)),
    find: (kind, where) => db.read(() => rows.select(kind, where, { limit: 1 })[0]),
    list: (kind, where, page) => db.read(() => rows.select(kind, where, page)),
    update: (kind, id, changes) => change(kind, () => updateNow(rows, kind, { id, changes })),
    remove: (kind, id) => change(kind, () => rows.remove(kind, id)),
    settings: (accountId) => db.read(() => settings.of(accountId)),
    setSetting: (accountId, name, value) =>
      db.write(() => {
        settings.set(accountId, name, value);
        parts.accounts.forget();
        parts.meta.raiseRecordsVersion();
      }),
    webhookSecrets: (accountId) => db.read(() => parts.webhookSecrets.newest(accountId)),
    addWebhookSecret: (accountId, secret, now) =>
      db.write(() => parts.webhookSecrets.add(accountId, secret, now)),
    version: () => db.read(() => parts.meta.recordsVersion()),
  };
}

function noteChange({ accounts, optOuts, meta }: RecordParts, table: RecordTable): void {
  if (table.table === "opt_outs") optOuts.forget();
  if (table.table === "accounts") accounts.forget();
  if (table.isWatched) meta.raiseRecordsVersion();
}

interface Update<K extends RecordKind> {
  readonly id: string;
  readonly changes: { readonly [F in keyof RecordTypes[K]]?: RecordTypes[K][F] | null };
}

function updateNow<K extends RecordKind>(rows: RecordRows, kind: K, { id, changes }: Update<K>) {
  const done = rows.update(kind, id, changes);
  if (typeof done === "object") return done;
  const byId = { id } as Partial<RecordTypes[K]>;
  return done ? rows.select(kind, byId, { limit: 1 })[0] : undefined;
}
