import {
  countsOf,
  exceededLimit,
  hoursOf,
  type LimitedRequest,
  type LimitRefusal,
  type Usage,
} from "../../../core/messages/sending-limits.ts";
import type { Intake } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import type { Transaction } from "../database/transactions.ts";

/** What a request would use of an account's limits. */
export interface RequestUsage {
  readonly account: number;
  readonly recipients: readonly string[];
  readonly limited: LimitedRequest;
}

/**
 * The counts that requests are judged by: read by one statement, raised in memory, written by another. All other requests of the
 * accounts wait meanwhile, so these must not wait for an answer each.
 */
export interface UsageCounts {
  /** The limit that the request would exceed, if any. Does not count the request. */
  exceeded(request: RequestUsage): LimitRefusal | undefined;
  count(request: RequestUsage): void;
  write(session: Transaction): void;
}

/** Locks the counts of these accounts until the transaction ends. */
export function lockUsage(session: Transaction, accounts: readonly number[]): void {
  session.run(LOCK, [LOCKS.counting, accounts]);
}

/** In order, so that two transactions cannot deadlock. */
const LOCK = `SELECT pg_advisory_xact_lock($1, account)
  FROM (SELECT DISTINCT account FROM unnest($2::int[]) AS t (account) ORDER BY account) AS sorted`;

/** Reads all that these requests can be judged by, and no others. */
export async function loadUsage(session: Session, requests: readonly RequestUsage[]): Promise<UsageCounts> {
  const hours = createHours(await session.query<UsageRow>(FIND, daysOf(requests)));
  const added = createHours([]);
  return {
    exceeded: ({ account, recipients, limited }) =>
      exceededLimit(limited, recipients, (recipient, first, last) =>
        hours.sum({ account, recipient, first, last }),
      ),
    count({ account, recipients, limited }) {
      const { hour } = hoursOf(limited.now);
      for (const [recipient, messages] of countsOf(limited, recipients)) {
        const row = { account, recipient, hour, messages, segments: messages * limited.segments };
        hours.add(row);
        added.add(row);
      }
    },
    write(session) {
      const rows = added.rows();
      if (rows.length > 0) session.run(ADD, columnsOf(rows));
    },
  };
}

/** `Intake.overLimit`. */
export function createOverLimit(session: Session): Intake["overLimit"] {
  return async ({ accountId, recipients, limited }) => {
    const [row] = await session.query<{ number: number }>("SELECT number FROM accounts WHERE id = $1", [
      accountId,
    ]);
    if (!row) return undefined;
    const request = { account: row.number, recipients, limited };
    return (await loadUsage(session, [request])).exceeded(request);
  };
}

/** What an account has sent to a recipient, or to all, in one hour. */
interface UsageRow extends Usage {
  readonly account: number;
  readonly recipient: string;
  readonly hour: number;
}

interface HourRange extends Pick<UsageRow, "account" | "recipient"> {
  readonly first: number;
  readonly last: number;
}

function createHours(found: readonly UsageRow[]) {
  /** By account and recipient, then by hour. */
  const known = new Map<string, Map<number, UsageRow>>();
  const add = (row: UsageRow) => {
    const name = `${row.account} ${row.recipient}`;
    const hours = known.get(name) ?? new Map<number, UsageRow>();
    known.set(name, hours);
    const before = hours.get(row.hour) ?? { messages: 0, segments: 0 };
    hours.set(row.hour, {
      ...row,
      messages: before.messages + row.messages,
      segments: before.segments + row.segments,
    });
  };
  for (const row of found) add(row);
  return {
    add,
    sum({ account, recipient, first, last }: HourRange): Usage {
      const hours = [...(known.get(`${account} ${recipient}`)?.values() ?? [])];
      const within = hours.filter(({ hour }) => hour >= first && hour <= last);
      return {
        messages: within.reduce((sum, each) => sum + each.messages, 0),
        segments: within.reduce((sum, each) => sum + each.segments, 0),
      };
    },
    rows: () => [...known.values()].flatMap((hours) => [...hours.values()]),
  };
}

/** The days that the requests' limits look at, each once, as columns. */
function daysOf(requests: readonly RequestUsage[]) {
  const days = requests.flatMap(({ account, recipients, limited }): HourRange[] => {
    const { first, last } = hoursOf(limited.now);
    return [...countsOf(limited, recipients).keys()].map((recipient) => ({
      account,
      recipient,
      first,
      last,
    }));
  });
  const once = [
    ...new Map(days.map((day) => [`${day.account} ${day.first} ${day.recipient}`, day])).values(),
  ];
  return [
    once.map(({ account }) => account),
    once.map(({ recipient }) => recipient),
    once.map(({ first }) => first),
    once.map(({ last }) => last),
  ];
}

/** By a subquery for each: if the table was empty when statistics were taken, the planner would read all of it. */
const FIND = `SELECT u.account, u.recipient, u.hour, u.messages, u.segments
  FROM unnest($1::int[], $2::text[], $3::int[], $4::int[]) AS t (account, recipient, first, last), LATERAL (
    SELECT * FROM sms_usage
    WHERE account = t.account AND recipient = t.recipient AND hour BETWEEN t.first AND t.last OFFSET 0
  ) AS u`;

function columnsOf(rows: readonly UsageRow[]) {
  return [
    rows.map(({ account }) => account),
    rows.map(({ recipient }) => recipient),
    rows.map(({ hour }) => hour),
    rows.map(({ messages }) => messages),
    rows.map(({ segments }) => segments),
  ];
}

const ADD = `INSERT INTO sms_usage AS u (account, recipient, hour, messages, segments)
  SELECT * FROM unnest($1::int[], $2::text[], $3::int[], $4::int[], $5::int[])
  ON CONFLICT (account, recipient, hour) DO UPDATE
  SET messages = u.messages + excluded.messages, segments = u.segments + excluded.segments`;
