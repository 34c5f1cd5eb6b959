import type { OptOutChanges, OptOutTarget } from "../../inbound/take-inbound.ts";
import type { OptOutQuery } from "../../suppressions/suppressions.ts";
import type { Database } from "../database/database.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";

/** Opt-outs of recipients. For use inside a transaction, except `among`, which only reads. */
export interface OptOuts extends OptOutChanges {
  /**
   * Whether the recipient has opted out; without a sender, of any. Costs nothing while the account has no opt-outs. Only on the
   * writing connection.
   */
  covers(who: OptOutTarget): boolean;
  /** Which numbers of `to` have opted out. For use on any connection. */
  among(query: OptOutQuery): readonly string[];
  /** To be called within a transaction that changes the table by other statements. */
  forget(): void;
}

/** For how many accounts to remember whether anybody has opted out. */
const MAX_ACCOUNTS = 10_000;

export function createOptOuts(db: Database, erasedNames: ErasedNames): OptOuts {
  const ofAnybody = db.prepare("SELECT 1 FROM opt_outs WHERE account_id = ? LIMIT 1");
  const rows = createRows(db);
  const known = new Map<string, boolean>();
  db.onRollback(() => known.clear());

  const hasAny = (accountId: string): boolean => {
    const before = known.get(accountId);
    if (before !== undefined) return before;
    const found = ofAnybody.get(accountId) !== undefined;
    if (known.size >= MAX_ACCOUNTS) known.clear();
    known.set(accountId, found);
    return found;
  };
  const erased = (who: OptOutTarget): OptOutTarget | undefined => {
    const toErased = erasedNames.form();
    return toErased && { ...who, recipient: toErased(who.recipient) };
  };
  const find = (who: OptOutTarget): boolean => {
    if (rows.covers(who)) return true;
    const same = erased(who);
    return same !== undefined && rows.covers(same);
  };

  return {
    covers: (who) => hasAny(who.accountId) && find(who),
    among: ({ to, accountId, sender }) => to.filter((recipient) => find({ accountId, sender, recipient })),
    add(optOut) {
      // If somebody who was erased opts out again, their opt-out is there already, and their number must not be stored again.
      const same = erased(optOut);
      if (same && rows.isThere(same)) return;
      rows.insert(optOut);
      known.delete(optOut.accountId);
    },
    remove(who) {
      for (const each of [who, erased(who)]) if (each) rows.remove(each);
    },
    forget: () => known.clear(),
  };
}

function createRows(db: Database) {
  const ofAll = db.prepare(
    "SELECT 1 FROM opt_outs WHERE account_id = ? AND recipient = ? AND sender IS NULL LIMIT 1",
  );
  const ofSender = db.prepare(
    "SELECT 1 FROM opt_outs WHERE account_id = ? AND sender = ? AND recipient = ? LIMIT 1",
  );
  const ofAny = db.prepare("SELECT 1 FROM opt_outs WHERE account_id = ? AND recipient = ? LIMIT 1");
  const insert = db.prepare(
    `INSERT INTO opt_outs (id, account_id, sender, recipient, reason, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const removeOfAll = db.prepare(
    "DELETE FROM opt_outs WHERE account_id = ? AND recipient = ? AND sender IS NULL",
  );
  const removeOfSender = db.prepare(
    "DELETE FROM opt_outs WHERE account_id = ? AND sender = ? AND recipient = ?",
  );
  const isOfAll = ({ accountId, recipient }: OptOutTarget) => ofAll.get(accountId, recipient) !== undefined;
  const isOfSender = ({ accountId, sender, recipient }: OptOutTarget) =>
    sender !== undefined && ofSender.get(accountId, sender, recipient) !== undefined;
  const isOfAny = ({ accountId, recipient }: OptOutTarget) => ofAny.get(accountId, recipient) !== undefined;
  return {
    covers: (who: OptOutTarget) =>
      who.sender === undefined ? isOfAny(who) : isOfAll(who) || isOfSender(who),
    /** Whether exactly this opt-out is stored. */
    isThere: (who: OptOutTarget) => (who.sender === undefined ? isOfAll(who) : isOfSender(who)),
    insert({ id, accountId, sender, recipient, reason, at }: Parameters<OptOuts["add"]>[0]) {
      insert.run(id, accountId, sender ?? null, recipient, reason, at);
    },
    remove({ accountId, sender, recipient }: OptOutTarget) {
      removeOfAll.run(accountId, recipient);
      if (sender !== undefined) removeOfSender.run(accountId, sender, recipient);
    },
  };
}
