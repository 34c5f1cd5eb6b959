import {
  exceededDailyLimit,
  exceededRecipientLimit,
  hasDailyLimit,
  hasRecipientLimit,
  hoursOf,
  type LimitedRequest,
  type LimitRefusal,
  tallyOf,
} from "../../../core/messages/sending-limits.ts";
import type { Intake } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";

/** What a request would use of an account's limits. */
export interface RequestUsage {
  readonly account: number;
  readonly recipients: readonly string[];
  readonly limited: LimitedRequest;
}

/** Locks the counts of these accounts until the transaction ends. */
export async function lockUsage(session: Session, accounts: readonly number[]): Promise<void> {
  const sorted = [...new Set(accounts)].sort((one, other) => one - other);
  for (const account of sorted) {
    await session.query("SELECT pg_advisory_xact_lock($1, $2)", [LOCKS.counting, account]);
  }
}

/** The limit that the request would exceed, if any. Does not count the request. */
export async function exceededLimit(
  session: Session,
  request: RequestUsage,
): Promise<LimitRefusal | undefined> {
  const { account, recipients, limited } = request;
  const { hour, first, last } = hoursOf(limited.now);
  const counts = tally(request);
  const names = [...counts.keys()];
  const rows = await session.query<UsageRow>(SUM, [account, names, first, last, hour]);
  const used = new Map(rows.map((row) => [row.recipient, row]));
  const all = used.get(ALL);
  const today = { messages: all?.messages ?? 0, segments: all?.segments ?? 0 };
  const more = { messages: recipients.length, segments: recipients.length * limited.segments };
  const daily = exceededDailyLimit(limited, today, more);
  if (daily) return daily;
  const usage = names
    .filter((recipient) => recipient !== ALL)
    .map((recipient) => ({
      recipient,
      today: (used.get(recipient)?.messages ?? 0) + (counts.get(recipient) ?? 0),
      thisHour: (used.get(recipient)?.this_hour ?? 0) + (counts.get(recipient) ?? 0),
    }));
  return exceededRecipientLimit(limited, usage);
}

/** `Intake.overLimit`. */
export function createOverLimit(session: Session): Intake["overLimit"] {
  return async ({ accountId, recipients, limited }) => {
    const [row] = await session.query<{ number: number }>("SELECT number FROM accounts WHERE id = $1", [
      accountId,
    ]);
    return row && exceededLimit(session, { account: row.number, recipients, limited });
  };
}

interface UsageRow {
  readonly recipient: string;
  readonly messages: number;
  readonly segments: number;
  readonly this_hour: number;
}

const SUM = `SELECT recipient, sum(messages)::bigint AS messages, sum(segments)::bigint AS segments,
    coalesce(sum(messages) FILTER (WHERE hour = $5), 0)::bigint AS this_hour
  FROM sms_usage WHERE account = $1 AND recipient = ANY($2) AND hour BETWEEN $3 AND $4 GROUP BY recipient`;

export async function countUsage(session: Session, request: RequestUsage): Promise<void> {
  const counts = [...tally(request)];
  if (counts.length === 0) return;
  await session.query(ADD, [
    request.account,
    counts.map(([recipient]) => recipient),
    hoursOf(request.limited.now).hour,
    counts.map(([, count]) => count),
    request.limited.segments,
  ]);
}

const ADD = `INSERT INTO sms_usage AS u (account, recipient, hour, messages, segments)
  SELECT $1, recipient, $3, count, count * $5 FROM unnest($2::text[], $4::int[]) AS t (recipient, count)
  ON CONFLICT (account, recipient, hour) DO UPDATE
  SET messages = u.messages + excluded.messages, segments = u.segments + excluded.segments`;

/** Stands in place of a recipient in the row that counts all of the account's messages. */
const ALL = "";

/** By how many messages each row's count rises: the account's, and each recipient's, as far as there are limits for them. */
function tally({ recipients, limited }: RequestUsage): ReadonlyMap<string, number> {
  const ofAll = hasDailyLimit(limited) ? [[ALL, recipients.length] as const] : [];
  return new Map([...ofAll, ...(hasRecipientLimit(limited) ? tallyOf(recipients) : [])]);
}
