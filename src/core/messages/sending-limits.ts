/** Limits on what an account may send, against SMS pumping: traffic that is made for a share of the fees that operators get for it. */
import { readSetting } from "../records/settings.ts";
import { HOUR_MS } from "../time/durations.ts";

const DAY_HOURS = 24;

/** An account's limits, named like the settings; absent: no limit. Days are days in UTC; hours are clock hours. */
export interface SendingLimits {
  readonly daily_message_limit?: number;
  readonly daily_segment_limit?: number;
  readonly recipient_hourly_limit?: number;
  readonly recipient_daily_limit?: number;
}

/** The account's limits; `undefined` if it has none. */
export function sendingLimits(settings: Readonly<Record<string, string>>): SendingLimits | undefined {
  let limits: SendingLimits | undefined;
  for (const name of LIMIT_NAMES) {
    const limit = settings[name] === undefined ? 0 : readSetting(settings, name);
    if (limit > 0) limits = { ...limits, [name]: limit };
  }
  return limits;
}

const LIMIT_NAMES = [
  "daily_message_limit",
  "daily_segment_limit",
  "recipient_hourly_limit",
  "recipient_daily_limit",
] as const satisfies readonly (keyof SendingLimits)[];

/** A request, with the limits that the transaction that accepts it checks. */
export interface LimitedRequest {
  readonly limits: SendingLimits;
  readonly now: number;
  /** How many segments each message has; 1 if no limit is one of a day. */
  readonly segments: number;
}

/** Why a request was not accepted: the limit that it would exceed. */
export type LimitRefusal = DailyRefusal | RecipientRefusal;

interface Exceeded {
  readonly allowed: number;
  /** When the count starts anew, Unix milliseconds. */
  readonly until: number;
}

export interface DailyRefusal extends Exceeded {
  readonly limit: "daily_message_limit" | "daily_segment_limit";
  /** How much had been used before this request. */
  readonly used: number;
  /** How much this request needs: for all of its messages together, and for each. */
  readonly asked: { readonly whole: number; readonly each: number };
}

export interface RecipientRefusal extends Exceeded {
  readonly limit: "recipient_hourly_limit" | "recipient_daily_limit";
  /** The recipients that are at their limit. */
  readonly recipients: readonly string[];
}

export interface Usage {
  readonly messages: number;
  readonly segments: number;
}

/** Whether there is a limit to what the account sends to all recipients together. */
export function hasDailyLimit({ limits }: Pick<LimitedRequest, "limits">): boolean {
  return limits.daily_message_limit !== undefined || limits.daily_segment_limit !== undefined;
}

/** Whether there is a limit to what the account sends to one recipient. */
function hasRecipientLimit({ limits }: LimitedRequest): boolean {
  return limits.recipient_hourly_limit !== undefined || limits.recipient_daily_limit !== undefined;
}

/** How many messages of a request go to each number. */
export function tallyOf(recipients: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const recipient of recipients) counts.set(recipient, (counts.get(recipient) ?? 0) + 1);
  return counts;
}

/** The hour, counted from 1970, and the first and last hour of its day (UTC). */
export function hoursOf(now: number): {
  readonly hour: number;
  readonly first: number;
  readonly last: number;
} {
  const hour = Math.floor(now / HOUR_MS);
  const first = hour - (hour % DAY_HOURS);
  return { hour, first, last: first + DAY_HOURS - 1 };
}

/** Stands in place of a recipient in the count of all of the account's messages. */
const ALL_RECIPIENTS = "";

/** By how many messages a request raises each count: the account's, and each recipient's, as far as there are limits for them. */
export function countsOf(
  request: LimitedRequest,
  recipients: readonly string[],
): ReadonlyMap<string, number> {
  const ofAll = hasDailyLimit(request) ? [[ALL_RECIPIENTS, recipients.length] as const] : [];
  return new Map([...ofAll, ...(hasRecipientLimit(request) ? tallyOf(recipients) : [])]);
}

/** How much has been counted for a recipient, or for `ALL_RECIPIENTS`, in the hours from `first` to `last`. */
type Counted = (recipient: string, first: number, last: number) => Usage;

/** The limit that a request to these recipients would exceed, if any: the account's first, then the recipients'. */
export function exceededLimit(
  request: LimitedRequest,
  recipients: readonly string[],
  counted: Counted,
): LimitRefusal | undefined {
  const { hour, first, last } = hoursOf(request.now);
  const more = { messages: recipients.length, segments: recipients.length * request.segments };
  const daily = hasDailyLimit(request)
    ? exceededDailyLimit(request, counted(ALL_RECIPIENTS, first, last), more)
    : undefined;
  if (daily || !hasRecipientLimit(request)) return daily;
  const usage = [...tallyOf(recipients)].map(([recipient, count]) => ({
    recipient,
    today: counted(recipient, first, last).messages + count,
    thisHour: counted(recipient, hour, hour).messages + count,
  }));
  return exceededRecipientLimit(request, usage);
}

/** The daily limit that `more` would exceed, if any. `today`: what the account has sent today. */
function exceededDailyLimit(
  { limits, now, segments: perMessage }: LimitedRequest,
  today: Usage,
  more: Usage,
): DailyRefusal | undefined {
  const until = (hoursOf(now).last + 1) * HOUR_MS;
  const { daily_message_limit: messages, daily_segment_limit: segments } = limits;
  if (messages !== undefined && today.messages + more.messages > messages) {
    const asked = { whole: more.messages, each: 1 };
    return { limit: "daily_message_limit", allowed: messages, used: today.messages, asked, until };
  }
  if (segments !== undefined && today.segments + more.segments > segments) {
    const asked = { whole: more.segments, each: perMessage };
    return { limit: "daily_segment_limit", allowed: segments, used: today.segments, asked, until };
  }
  return undefined;
}

/** How many messages one recipient gets from the account, including this request. */
interface RecipientUsage {
  readonly recipient: string;
  readonly thisHour: number;
  readonly today: number;
}

/** The limit of a recipient that is exceeded, if any: the daily one first, then the hourly one. */
function exceededRecipientLimit(
  { limits, now }: LimitedRequest,
  usage: readonly RecipientUsage[],
): RecipientRefusal | undefined {
  const { hour, last } = hoursOf(now);
  const judge = (
    limit: RecipientRefusal["limit"],
    { count, endsWith }: { count: (one: RecipientUsage) => number; endsWith: number },
  ) => {
    const allowed = limits[limit];
    if (allowed === undefined) return undefined;
    const recipients = usage.filter((one) => count(one) > allowed).map(({ recipient }) => recipient);
    if (recipients.length === 0) return undefined;
    return { limit, allowed, recipients, until: (endsWith + 1) * HOUR_MS };
  };
  return (
    judge("recipient_daily_limit", { count: (one) => one.today, endsWith: last }) ??
    judge("recipient_hourly_limit", { count: (one) => one.thisHour, endsWith: hour })
  );
}
