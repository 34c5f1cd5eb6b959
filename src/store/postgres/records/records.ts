import type { Clock } from "../../../core/clock.ts";
import type { RecordKind } from "../../../core/records/accounts.ts";
import { hasChanged } from "../../records/record-change.ts";
import { RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import { createRecordValues } from "../../records/record-values.ts";
import type { Records } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import { raiseRecordsVersion, readMeta } from "../database/meta.ts";
import type { Database } from "../database/transactions.ts";
import { inTurns } from "../database/turns.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { withErased } from "../erasures/erased-records.ts";
import { createFindKeyOwner } from "./find-key-owner.ts";
import { createRecordRows, toConflict } from "./record-rows.ts";
import { createSettings } from "./settings.ts";
import { createWebhookSecrets, type WebhookSecrets } from "./webhook-secrets.ts";

export interface RecordParts {
  readonly vault: Vault;
  readonly erasedNames: ErasedNames;
  readonly clock: Pick<Clock, "after">;
}

export function createRecords(db: Database, { vault, erasedNames, clock }: RecordParts): Records {
  const rows = createRecordRows(createRecordValues(vault));
  const all = withErased(rows, erasedNames);
  const settings = createSettings(vault);
  const secrets = createWebhookSecrets(vault);
  // An import changes ten records of an account at once, and some of them lock the account.
  const inTurn = inTurns(db, clock, "too many changes of records wait");
  const change = <T>(kind: RecordKind, work: (session: Session) => Promise<T>): Promise<T> =>
    inTurn(async (session) => {
      const done = await work(session);
      const table: RecordTable = RECORD_TABLES[kind];
      if (table.isWatched && hasChanged(done)) await raiseRecordsVersion(session);
      return done;
    });
  const version = createVersion(db);
  const orConflict = (kind: RecordKind) => (error: unknown) => toConflict(kind, error);

  return {
    create: (kind, record) =>
      change(kind, (session) => all.insert(session, kind, record)).catch(orConflict(kind)),
    createAccount: (account, secret) =>
      change("accounts", async (session) => {
        const done = await rows.insert(session, "accounts", account);
        const { id: accountId, createdAt: now } = account;
        if (done === "created") await secrets.add(session, { accountId, secret, now });
        return done;
      }).catch(orConflict("accounts")),
    find: async (kind, where) => (await all.select(db, kind, { where, limit: 1 }))[0],
    list: (kind, where, page) => all.select(db, kind, { ...page, where, isInPieces: true }),
    update: (kind, read, changes) =>
      change(kind, (session) => rows.update(session, kind, { read, changes })).catch(orConflict(kind)),
    remove: (kind, id) => change(kind, (session) => rows.remove(session, kind, id)),
    findKeyOwner: createFindKeyOwner(db),
    settings: (accountId) => settings.of(db, accountId),
    setSettings: (accountId, values) =>
      db.transaction(async (session) => {
        if (accountId !== undefined && !(await isThere(session, accountId))) return false;
        // In a fixed order, so that two transactions that set the same settings cannot deadlock.
        const inOrder = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
        for (const [name, value] of inOrder) await settings.set(session, { accountId, name, value });
        await raiseRecordsVersion(session);
        return true;
      }),
    ...secretsOf(db, secrets),
    version,
  };
}

/** Another server, which may lack what was changed last, counts on from where it is, and may come to a number that was seen before. */
function createVersion(db: Database): Records["version"] {
  let servers = 0;
  db.onOtherServer(() => void servers++);
  return async () => {
    const before = servers * MAX_CHANGES;
    return before + Number((await readMeta(db, "records_version")) ?? 0);
  };
}

/** More than there can be on one server. */
const MAX_CHANGES = 2 ** 40;

function secretsOf(
  db: Database,
  secrets: WebhookSecrets,
): Pick<Records, "webhookSecrets" | "addWebhookSecret"> {
  return {
    webhookSecrets: (accountId) => secrets.newest(db, accountId),
    addWebhookSecret: (accountId, { secret, createdAt: now }, newest) =>
      db.transaction(async (session) => {
        if (!(await secrets.lock(session, accountId))) return undefined;
        const [last] = newest === undefined ? [] : await secrets.newest(session, accountId);
        if (last?.createdAt !== newest) return false;
        await secrets.add(session, { accountId, secret, now });
        return true;
      }),
  };
}

/** Whether the account exists; if so, it stays until the transaction ends. */
async function isThere(session: Session, accountId: string): Promise<boolean> {
  const sql = "SELECT 1 FROM accounts WHERE id = $1 FOR KEY SHARE";
  return (await session.query(sql, [accountId])).length > 0;
}
