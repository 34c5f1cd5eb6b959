import {
  exceededDailyLimit,
  exceededRecipientLimit,
  hasDailyLimit,
  hasRecipientLimit,
  hoursOf,
  type LimitedRequest,
  type LimitRefusal,
  tallyOf,
  type Usage,
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

/** Stands in place of a recipient in the row that counts all of the account's messages. */
const ALL = "";

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
  const used = (account: number, recipient: string, [from, to]: readonly [number, number]): Usage => {
    const row = sum.get(account, recipient, from, to);
    return { messages: row?.messages ?? 0, segments: row?.segments ?? 0 };
  };

  return {
    exceeded(account, recipients, request) {
      const { hour, first, last } = hoursOf(request.now);
      const daily = hasDailyLimit(request)
        ? exceededDailyLimit(request, used(account, ALL, [first, last]), usageOf(recipients.length, request))
        : undefined;
      if (daily || !hasRecipientLimit(request)) return daily;
      const usage = [...tallyOf(recipients)].map(([recipient, more]) => ({
        recipient,
        today: used(account, recipient, [first, last]).messages + more,
        thisHour: used(account, recipient, [hour, hour]).messages + more,
      }));
      return exceededRecipientLimit(request, usage);
    },
    count(account, recipients, request) {
      const { hour } = hoursOf(request.now);
      const write = (recipient: string, count: number) => {
        const { messages, segments } = usageOf(count, request);
        add.run(account, recipient, hour, messages, segments);
      };
      if (hasDailyLimit(request)) write(ALL, recipients.length);
      if (hasRecipientLimit(request))
        for (const [recipient, count] of tallyOf(recipients)) write(recipient, count);
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

function usageOf(messages: number, { segments }: LimitedRequest): Usage {
  return { messages, segments: messages * segments };
}
