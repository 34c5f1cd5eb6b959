import type { Suppression } from "../../../core/records/accounts.ts";
import { addressKey } from "../../../core/suppressions/address-key.ts";
import { countSoftBounce, firstSoftDay, isSoftLimit } from "../../../core/suppressions/suppression.ts";
import { spellingsOf } from "../../address-spellings.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import type { Retention } from "../../store.ts";
import {
  deliveredTo,
  type LearntSuppression,
  learntFromParts,
  type PartsStep,
  toSuppression,
} from "../../suppressions/learnt-suppressions.ts";
import { longest } from "../../suppressions/longest-suppressions.ts";
import { erasedSpellings } from "../../suppressions/suppression-names.ts";
import type { Database } from "../database/database.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { createOldRowDeletion } from "../old-row-deletion.ts";
import type { AccountCache, AccountEntry } from "../records/account-cache.ts";
import { NUMBERS } from "../unreadable-rows.ts";

/** The suppression lists, all but `prune` for use inside a transaction. Bounces of sandbox accounts are ignored, since they are simulated. */
export interface SuppressionList {
  /** Adds what a receipt says of a recipient. */
  learn(message: Pick<MessageRow, "id" | "account">, word: LearntSuppression): void;
  /** Adds the recipients that bounced in the step from `before` to `after`, and forgives those to whom it has delivered. */
  learnFromParts(message: Pick<MessageRow, "id" | "account">, step: PartsStep): void;
  /** Forgets soft bounces of an address, since a message was delivered to it. */
  forgive(message: Pick<MessageRow, "account">, email: string): void;
  /** Returns how many were added or made to last longer. */
  add(suppressions: readonly Suppression[]): number;
  /** In transactions of its own; see `Retention`. */
  readonly prune: Retention["pruneSuppressions"];
}

export interface SuppressionListParts {
  readonly accounts: AccountCache;
  readonly erasedNames: ErasedNames;
}

export function createSuppressionList(
  db: Database,
  { accounts, erasedNames }: SuppressionListParts,
): SuppressionList {
  const softBounces = createSoftBounces(db);
  const { add, removeEnded } = createRows(db, erasedNames);
  const liveAccount = (number: number) => {
    const entry = accounts.byNumber(number);
    return entry?.account.mode === "live" ? entry : undefined;
  };

  const learn: SuppressionList["learn"] = (message, word) => {
    const entry = liveAccount(message.account);
    const isSoft = word.reason === "soft_bounce";
    if (!entry || (isSoft && !softBounces.isOver(entry, addressKey(word.email), word.at))) return;
    const { account, settings } = entry;
    add([toSuppression(word, { accountId: account.id, messageId: message.id, settings })]);
  };

  const forgive: SuppressionList["forgive"] = (message, email) => {
    const entry = liveAccount(message.account);
    if (entry) softBounces.forget(entry, addressKey(email));
  };

  return {
    learn,
    learnFromParts(message, step) {
      for (const word of learntFromParts(step)) learn(message, word);
      for (const email of deliveredTo(step)) forgive(message, email);
    },
    forgive,
    add,
    prune: async (now, limit) => (await removeEnded(now, limit)) + (await softBounces.prune(now, limit)),
  };
}

interface Ended {
  readonly id: string;
  readonly expires_at: number;
}

function createRows(db: Database, erasedNames: ErasedNames) {
  const upsert = db.prepare(
    `INSERT INTO suppressions (id, account_id, email, reason, source, expires_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (account_id, email) DO UPDATE
       SET reason = excluded.reason, source = excluded.source, expires_at = excluded.expires_at,
           created_at = excluded.created_at
       WHERE expires_at IS NOT NULL AND (excluded.expires_at IS NULL OR excluded.expires_at > expires_at)`,
  );
  const isThere = db.prepare("SELECT 1 FROM suppressions WHERE account_id = ? AND email = ?");
  const rename = db.prepare("UPDATE OR IGNORE suppressions SET email = ? WHERE account_id = ? AND email = ?");
  /** The name to store: the erased form if that is on the list, since an erased address must not be stored again; else the key. */
  const nameFor = (accountId: string, email: string): string => {
    const erased = erasedSpellings(email, erasedNames.form());
    const there = erased.find((name) => isThere.get(accountId, name) !== undefined);
    if (there !== undefined) return there;
    const [key = email, ...others] = spellingsOf(email);
    // Renames an entry under another spelling, which is from before keys were used.
    for (const spelling of others) rename.run(key, accountId, spelling);
    return key;
  };
  const save = ({ id, accountId, email, reason, source, expiresAt, createdAt }: Suppression): boolean =>
    upsert.run(id, accountId, email, reason, source ?? null, expiresAt ?? null, createdAt) > 0;
  const remove = db.prepare("DELETE FROM suppressions WHERE id = ?");
  const prune = createOldRowDeletion<Ended, string, number>(db, {
    table: "suppressions",
    sql: "SELECT id, expires_at FROM suppressions WHERE expires_at > ?3 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2",
    keys: NUMBERS,
    keyOf: (row) => row.expires_at,
    idOf: ({ id }) => id,
    nameOf: (id) => `suppression ${id}`,
    remove: ({ id }) => remove.run(id),
  });
  return {
    add(suppressions: readonly Suppression[]): number {
      const named = suppressions.map((each) => ({ ...each, email: nameFor(each.accountId, each.email) }));
      return longest(named).filter(save).length;
    },
    removeEnded: async (now: number, limit: number) => (await prune(now, now, limit)).count,
  };
}

interface SoftBounceRow {
  readonly account_id: string;
  readonly email: string;
  readonly last_day: number;
}

function createSoftBounces(db: Database) {
  const find = db.prepare<{ days: number; last_day: number }>(
    "SELECT days, last_day FROM soft_bounces WHERE account_id = ? AND email = ?",
  );
  const upsert = db.prepare(
    `INSERT INTO soft_bounces (account_id, email, days, last_day) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id, email) DO UPDATE SET days = excluded.days, last_day = excluded.last_day`,
  );
  const remove = db.prepare("DELETE FROM soft_bounces WHERE account_id = ? AND email = ?");
  const prune = createOldRowDeletion<SoftBounceRow, string, number>(db, {
    table: "soft_bounces",
    sql: `SELECT account_id, email, last_day FROM soft_bounces WHERE last_day > ?3 AND last_day < ?1
      ORDER BY last_day LIMIT ?2`,
    keys: NUMBERS,
    keyOf: (row) => row.last_day,
    idOf: (row) => `${row.account_id} ${row.email}`,
    nameOf: (id) => `a soft bounce in account ${id.split(" ")[0]}`,
    remove: (row) => remove.run(row.account_id, row.email),
  });

  return {
    /** Counts one more soft bounce. Returns whether that reaches the limit. */
    isOver({ account, settings }: AccountEntry, email: string, at: number): boolean {
      const row = find.get(account.id, email);
      const count = countSoftBounce(row && { days: row.days, lastDay: row.last_day }, at);
      const isOver = isSoftLimit(count, settings);
      if (isOver) remove.run(account.id, email);
      else upsert.run(account.id, email, count.days, count.lastDay);
      return isOver;
    },
    forget: ({ account }: AccountEntry, email: string) => void remove.run(account.id, email),
    prune: async (now: number, limit: number) => (await prune(firstSoftDay(now), now, limit)).count,
  };
}
