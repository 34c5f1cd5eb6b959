import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import { otherSearches, otherTwins } from "../../erasures/erased-recipient.ts";
import { hasChanged } from "../../records/record-change.ts";
import { RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import type { RecordValues } from "../../records/record-values.ts";
import type { Records } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";
import type { Meta } from "../database/meta.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { OptOuts } from "../suppressions/opt-outs.ts";
import type { AccountCache } from "./account-cache.ts";
import { createFindKeyOwner } from "./find-key-owner.ts";
import { type Conflict, createRecordRows, type Page, type RecordRows } from "./record-rows.ts";
import { createSettings } from "./settings.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export interface RecordParts {
  readonly vault: Vault;
  readonly accounts: AccountCache;
  readonly optOuts: OptOuts;
  readonly values: RecordValues;
  readonly meta: Meta;
  readonly webhookSecrets: WebhookSecrets;
  readonly erasedNames: ErasedNames;
}

/** `Records` on SQLite. */
export function createRecords(db: Database, parts: RecordParts): Records {
  const rows = createRecordRows(db, parts.values);
  const settings = createSettings(db, parts.vault);
  const select = createSelect(rows, parts.erasedNames);
  const change = <T>(kind: RecordKind, work: () => T): Promise<T> =>
    db.write(() => {
      const done = work();
      if (hasChanged(done)) noteChange(parts, RECORD_TABLES[kind]);
      return done;
    });

  return {
    create: (kind, record) => change(kind, () => insertNow(rows, parts.erasedNames, { kind, record })),
    find: (kind, where) => db.read(() => select(kind, where, { limit: 1 })[0]),
    list: (kind, where, page) => db.read(() => select(kind, where, page)),
    update: (kind, read, changes) => change(kind, () => rows.update(kind, read, changes)),
    remove: (kind, id) => change(kind, () => rows.remove(kind, id)),
    findKeyOwner: createFindKeyOwner(db, parts.accounts),
    settings: (accountId) => db.read(() => settings.of(accountId)),
    setSettings: (accountId, values) =>
      db.write(() => {
        for (const [name, value] of Object.entries(values)) settings.set(accountId, name, value);
        parts.accounts.forget();
        parts.meta.raiseRecordsVersion();
      }),
    webhookSecrets: (accountId) => db.read(() => parts.webhookSecrets.newest(accountId)),
    addWebhookSecret: (accountId, { secret, createdAt }, newest) =>
      db.write(() => {
        const [last] = newest === undefined ? [] : parts.webhookSecrets.newest(accountId);
        if (last?.createdAt !== newest) return false;
        parts.webhookSecrets.add(accountId, secret, createdAt);
        return true;
      }),
    version: () => db.read(() => parts.meta.recordsVersion()),
  };
}

function noteChange({ accounts, optOuts, meta }: RecordParts, table: RecordTable): void {
  if (table.table === "opt_outs") optOuts.forget();
  if (table.table === "accounts") accounts.forget();
  if (table.isWatched) meta.raiseRecordsVersion();
}

/** Also finds records under the erased form of the recipient searched for, and under other spellings of an address. */
function createSelect(rows: RecordRows, erasedNames: ErasedNames): RecordRows["select"] {
  return <K extends RecordKind>(kind: K, where: Partial<RecordTypes[K]>, page: Page) => {
    const found = rows.select(kind, where, page);
    const others = otherSearches(kind, where, erasedNames.form());
    if (others.length === 0) return found;
    const all = [...found, ...others.flatMap((other) => rows.select(kind, other, page))];
    return all.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, page.limit);
  };
}

function insertNow<K extends RecordKind>(
  rows: RecordRows,
  erasedNames: ErasedNames,
  { kind, record }: { readonly kind: K; readonly record: RecordTypes[K] },
): "created" | Conflict {
  const twins = otherTwins(kind, record, erasedNames.form());
  const found = (twins?.searches ?? []).flatMap((where) => rows.select(kind, where, { limit: MAX_TWINS }));
  if (twins && found.some((twin) => senderOf(twin) === senderOf(record))) return { conflict: twins.field };
  return rows.insert(kind, record);
}

/** The most senders of one account that one number can have opted out of. */
const MAX_TWINS = 1_000;

function senderOf(record: object): unknown {
  return "sender" in record ? record.sender : undefined;
}
