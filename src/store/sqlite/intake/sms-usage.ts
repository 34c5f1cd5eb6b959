import {
  countsOf,
  exceededLimit,
  hoursOf,
  type LimitedRequest,
  type LimitRefusal,
} from "../../../core/messages/sending-limits.ts";
import type { Intake } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";

/** Counts what accounts with limits send, hour by hour. For use inside a transaction. */
export interface SmsUsage {
  /** The limit that the request would exceed, if any. Does not count the request. */
  exceeded(account: number, recipients: readonly string[], request: LimitedRequest): LimitRefusal | undefined;
  count(account: number, recipients: readonly string[], request: LimitedRequest): void;
}

export function createSmsUsage(db: Database): SmsUsage {
  const sum = db.prepare<{ messages: number | null; segments: number | null }>(
    `SELECT sum(messages) AS messages, sum(segments) AS segments FROM sms_usage
     WHERE account = ? AND recipient = ? AND hour BETWEEN ? AND ?`,
  );
  const add = db.prepare(
    `INSERT INTO sms_usage (account, recipient, hour, messages, segments) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (account, recipient, hour) DO UPDATE SET
       messages = messages + excluded.messages, segments = segments + excluded.segments`,
  );
  return {
    exceeded: (account, recipients, request) =>
      exceededLimit(request, recipients, (recipient, first, last) => {
        const row = sum.get(account, recipient, first, last);
        return { messages: row?.messages ?? 0, segments: row?.segments ?? 0 };
      }),
    count(account, recipients, request) {
      const { hour } = hoursOf(request.now);
      for (const [recipient, messages] of countsOf(request, recipients))
        add.run(account, recipient, hour, messages, messages * request.segments);
    },
  };
}

/** `Intake.overLimit`. */
export function createOverLimit(
  db: Database,
  { accounts, usage }: { readonly accounts: AccountCache; readonly usage: SmsUsage },
): Intake["overLimit"] {
  return ({ accountId, recipients, limited }) =>
    db.read(() => {
      const entry = accounts.byId(accountId);
      return entry && usage.exceeded(entry.number, recipients, limited);
    });
}
