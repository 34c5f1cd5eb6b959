import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import { otherSearches, otherTwins } from "../../erasures/erased-recipient.ts";
import { hasChanged } from "../../records/record-change.ts";
import { RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import type { Conflict, Records } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";
import { raiseMeta, readMeta } from "../database/meta.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { createHasJobs } from "../queue/has-jobs.ts";
import type { Queues } from "../queue/queues.ts";
import type { OptOuts } from "../suppressions/opt-outs.ts";
import type { AccountCache } from "./account-cache.ts";
import { createFindKeyOwner } from "./find-key-owner.ts";
import type { RecordRows } from "./record-rows.ts";
import { createSettings } from "./settings.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export interface RecordParts {
  readonly vault: Vault;
  readonly accounts: AccountCache;
  readonly optOuts: OptOuts;
  readonly rows: RecordRows;
  readonly webhookSecrets: WebhookSecrets;
  readonly erasedNames: ErasedNames;
  readonly queues: Pick<Queues, "numberOf">;
}

const ONE = { limit: 1 };

/** `Records` on SQLite. */
export function createRecords(db: Database, parts: RecordParts): Records {
  const { rows } = parts;
  const settings = createSettings(db, parts.vault);
  const isUsedRoute = createIsUsedRoute(db, parts);
  const searchesOf = createSearches(parts.erasedNames);
  const findNow = <K extends RecordKind>(kind: K, where: Partial<RecordTypes[K]>) => {
    const found = searchesOf(kind, where).map((each) => rows.select.now(kind, each, ONE));
    return firstOf(found, ONE)[0];
  };
  const change = <T>(kind: RecordKind, work: () => T): Promise<T> =>
    db.write(() => {
      const done = work();
      if (hasChanged(done)) noteChange(db, parts, RECORD_TABLES[kind]);
      return done;
    });

  return {
    create: (kind, record) => change(kind, () => insertNow(rows, parts.erasedNames, { kind, record })),
    createAccount: (account, secret) =>
      change("accounts", () => {
        const done = rows.insert("accounts", account);
        if (done === "created") parts.webhookSecrets.add(account.id, secret, account.createdAt);
        return done;
      }),
    find: (kind, where) => db.read(() => findNow(kind, where)),
    async list(kind, where, page) {
      const searches = await db.read(() => searchesOf(kind, where));
      return firstOf(await Promise.all(searches.map((each) => rows.select.inPieces(kind, each, page))), page);
    },
    update: (kind, read, changes) => change(kind, () => rows.update(kind, read, changes)),
    async remove(kind, id) {
      if (kind === "routes" && (await isUsedRoute(id))) return "in_use";
      return change(kind, () => rows.remove(kind, id));
    },
    findKeyOwner: createFindKeyOwner(db, parts.accounts),
    settings: (accountId) => db.read(() => settings.of(accountId)),
    setSettings: (accountId, values) =>
      db.write(() => {
        if (accountId !== undefined && !has(rows, "accounts", accountId)) return false;
        for (const [name, value] of Object.entries(values)) settings.set(accountId, name, value);
        parts.accounts.forget();
        raiseMeta(db, "records_version");
        return true;
      }),
    ...secretsOf(db, parts),
    version: () => db.read(() => Number(readMeta(db, "records_version") ?? 0)),
  };
}

function secretsOf(
  db: Database,
  { rows, webhookSecrets }: RecordParts,
): Pick<Records, "webhookSecrets" | "addWebhookSecret"> {
  return {
    webhookSecrets: (accountId) => db.read(() => webhookSecrets.newest(accountId)),
    addWebhookSecret: (accountId, { secret, createdAt }, newest) =>
      db.write(() => {
        if (!has(rows, "accounts", accountId)) return undefined;
        const [last] = newest === undefined ? [] : webhookSecrets.newest(accountId);
        if (last?.createdAt !== newest) return false;
        webhookSecrets.add(accountId, secret, createdAt);
        return true;
      }),
  };
}

/** Whether there is such a route, and its queue has a job. */
function createIsUsedRoute(db: Database, { rows, queues }: RecordParts): (id: string) => Promise<boolean> {
  const hasJobs = createHasJobs(db, queues);
  return async (id) => (await db.read(() => has(rows, "routes", id))) && hasJobs(id);
}

function has({ select }: Pick<RecordRows, "select">, kind: RecordKind, id: string): boolean {
  return select.now(kind, { id }, ONE).length > 0;
}

function noteChange(db: Database, { accounts, optOuts }: RecordParts, table: RecordTable): void {
  if (table.table === "opt_outs") optOuts.forget();
  if (table.table === "accounts") accounts.forget();
  if (table.isWatched) raiseMeta(db, "records_version");
}

/** A search also finds records under the erased form of the recipient searched for, and under other spellings of an address. */
function createSearches(erasedNames: ErasedNames) {
  return <K extends RecordKind>(
    kind: K,
    where: Partial<RecordTypes[K]>,
  ): readonly Partial<RecordTypes[K]>[] => [where, ...otherSearches(kind, where, erasedNames.form())];
}

/** The first page of what several searches have found together. */
function firstOf<R extends { readonly id: string }>(
  found: readonly R[][],
  { limit }: { readonly limit: number },
): readonly R[] {
  const [only = [], ...others] = found;
  if (others.length === 0) return only;
  return found
    .flat()
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

function insertNow<K extends RecordKind>(
  rows: RecordRows,
  erasedNames: ErasedNames,
  { kind, record }: { readonly kind: K; readonly record: RecordTypes[K] },
): "created" | Conflict {
  const twins = otherTwins(kind, record, erasedNames.form());
  const isTwin = (where: Partial<RecordTypes[K]>) => rows.select.now(kind, where, { limit: 1 }).length > 0;
  return twins?.searches.some(isTwin) ? { conflict: twins.field } : rows.insert(kind, record);
}
