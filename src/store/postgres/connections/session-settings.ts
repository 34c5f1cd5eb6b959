/**
 * Set at the start of each session, so that what is set for the role, the database, or in the URL does not change what our
 * statements mean. All of them are settings that every role may set, and that PostgreSQL has from version 15 on.
 *
 * Not among them: `search_path` and `role`, by which an operator says where the tables are and whose, and
 * `default_transaction_read_only`, by which a former primary is fenced.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  // A 202 promises that the message is on disk.
  synchronous_commit: "on",
  // By a warning we hear of a commit that is not on the standby's disk.
  client_min_messages: "notice",
  // A statement after a lock has to see what the lock's last holder committed.
  default_transaction_isolation: "read committed",
  // Tells a statement of a transaction from one outside; see `beginAtOnce`.
  default_transaction_deferrable: "off",
  // We send lists with NULL in them.
  array_nulls: "on",
  // How values and names are read and written.
  standard_conforming_strings: "on",
  quote_all_identifiers: "off",
  transform_null_equals: "off",
  bytea_output: "hex",
  DateStyle: "ISO",
  TimeZone: "UTC",
  // A session is idle while it waits for words of other processes, or for work; and errors that we expect must not end it.
  idle_session_timeout: "0",
  exit_on_error: "off",
  /*
   * Every statement finds its rows by an index. The planner may hold statistics from when today's tables were empty, and
   * then prefers to scan them; so sequential scans, hash and merge joins are off, and a day that grows costs no more per
   * row. Nor does it know that only one day's tables are searched: with a high cost per index row it looks up each id,
   * rather than go through the indexes of all days once. A page of a long list comes in order out of an index: for a table
   * that it takes to be small the planner would rather read the whole list by a bitmap, and sort it.
   */
  enable_bitmapscan: "off",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_indexscan: "on",
  enable_nestloop: "on",
  enable_partition_pruning: "on",
  jit: "off",
  cpu_index_tuple_cost: "10",
  /*
   * A statement is planned once for a connection. Otherwise the planner compares the plan for the list that is given with the plan for
   * any list, finds the first one cheaper if the list is short, and plans anew each time, which takes five times as long as to run it.
   */
  plan_cache_mode: "force_generic_plan",
};

/**
 * Time limits of a session's statements, as `refuseUnfitPooler` advises them for a role: behind a pooler any limit will do. Without
 * a pooler each driver sets its own.
 */
export const TIME_LIMITS: Readonly<Record<string, string>> = {
  statement_timeout: "10s",
  lock_timeout: "10s",
  idle_in_transaction_session_timeout: "10s",
};

/**
 * By these the server notices within a minute that a process, its machine or the network between them is gone. By default it takes two
 * hours, for which it keeps the sessions: a machine that is lost again and again would use up `max_connections`.
 */
const KEEPALIVES: Readonly<Record<string, string>> = {
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
};

/**
 * How long the server tries to send an answer that a process does not take. Its other time limits do not hold meanwhile, and so what
 * the transaction has locked would stay locked while a process stands still. Longer than we wait for an answer; not for statements
 * that may take long, whose rows are written to a disk as they come.
 */
const UNREAD_MS = 30_000;

/**
 * The `options` of a session's start: those of the URL, and after them ours, which count. Only how the server notices that we are gone
 * is left to the URL. Not for a pooler, which accepts none: there they have to be set for the role.
 *
 * @param answerMs how long we wait for an answer
 */
export function sessionOptions(ofUrl: string | undefined, answerMs = Number.POSITIVE_INFINITY): string {
  const ofNetwork =
    answerMs < UNREAD_MS ? { ...KEEPALIVES, tcp_user_timeout: String(UNREAD_MS) } : KEEPALIVES;
  return [...toOptions(ofNetwork), ...(ofUrl ? [ofUrl] : []), ...toOptions(SETTINGS)].join(" ");
}

/** Whether an error names a setting that `sessionOptions` adds, in whatever language. */
export function namesOurSetting(message: string): boolean {
  return Object.keys({ ...KEEPALIVES, ...SETTINGS }).some((name) => message.includes(name));
}

function toOptions(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`);
}
