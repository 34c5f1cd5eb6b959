import type { AcceptRequest, NewMessage } from "../../../core/messages/accept-request.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { hostOf } from "../../../core/webhooks/webhook-outbox.ts";
import { fromParts, splitContent } from "../../messages/message-rows.ts";
import { flowNumber } from "../../queue/flow-number.ts";
import type { Transaction } from "../database/transactions.ts";

/** A request to be stored, with the number of its account. */
export interface Taken {
  readonly request: AcceptRequest;
  readonly account: number;
}

/**
 * Writes contents, messages, jobs and first timeline entries of requests, in one statement. Nearly every request has one
 * message, and nearly every message one job, so a message's row of parameters also has its content and its job, and each
 * id is sent once. If any message has more jobs, or an entry, all jobs and entries are given in columns of their own.
 */
export function insertAccepted(
  session: Transaction,
  taken: readonly Taken[],
  queueNumber: (name: string) => number,
): void {
  const rows = taken.flatMap((one) => one.request.messages.map(rowsOf(one, queueNumber)));
  const columns = toColumns(COLUMNS, rows);
  const deferred = taken.flatMap(({ request }) => request.messages.filter(({ deferral }) => deferral));
  const isPlain = taken.every(({ request }) => request.messages.every(({ jobs }) => jobs.length < 2));
  if (isPlain && deferred.length === 0) {
    session.run(INSERT, columns);
    return;
  }
  const positions = taken.flatMap(({ request }) =>
    request.messages.map(({ deferral }) => (deferral ? 1 : 0)),
  );
  const jobs = taken.flatMap((one) => jobRows(one, queueNumber));
  session.run(INSERT_ALL, [
    ...columns,
    positions,
    ...toColumns(ENTRY_COLUMNS, deferred.map(entryRow)),
    ...toColumns(JOB_COLUMNS, jobs),
  ]);
}

/** Types of the parameters: an array for each column, in this order. */
type Columns = Readonly<Record<string, string>>;

/** `content` is NULL if it is the message's own id, `last` if the request has one message, `queue` if there is no job. */
const COLUMNS = {
  id: "uuid",
  account: "int",
  content: "uuid",
  channel: "text",
  recipient: "text",
  status: "text",
  parts: "text",
  expires_at: "bigint",
  host: "text",
  envelope: "text",
  body: "text",
  messages: "int",
  last: "uuid",
  queue: "int",
  flow: "int",
  job_parts: "text",
  due_at: "bigint",
};

const COLUMNS_WITH_POSITION = { ...COLUMNS, position: "int" };

const ENTRY_COLUMNS = { message_id: "uuid", at: "bigint", status: "text", detail: "text" };

const JOB_COLUMNS = {
  queue: "int",
  flow: "int",
  message_id: "uuid",
  parts: "text",
  deadline: "bigint",
  due_at: "bigint",
};

/** Reads the rows that are given in these columns, whose parameters come behind those of `others`. */
function rowsIn(columns: Columns, ...others: readonly Columns[]): string {
  const before = others.flatMap((other) => Object.keys(other)).length;
  const arrays = Object.values(columns).map((type, index) => `$${before + index + 1}::${type}[]`);
  return `SELECT * FROM unnest(${arrays.join(", ")}) AS t (${Object.keys(columns).join(", ")})`;
}

type Row = readonly (string | number | null)[];

function toColumns(columns: Columns, rows: readonly Row[]): (string | number | null)[][] {
  const arrays = Object.keys(columns).map((): (string | number | null)[] => []);
  for (const row of rows) row.forEach((value, index) => void arrays[index]?.push(value));
  return arrays;
}

/** The part that both statements share: contents and messages. */
function insertMessages(columns: Columns, position: string): string {
  return `WITH given AS MATERIALIZED (${rowsIn(columns)}),
  new_contents AS (
    INSERT INTO contents (id, envelope, body, messages, last_message_id)
    SELECT id, envelope, body, messages, coalesce(last, id) FROM given WHERE envelope IS NOT NULL
  ), new_messages AS (
    INSERT INTO messages (id, account, content, channel, recipient, status, parts, sequence, position, expires_at,
      callback_host)
    SELECT id, account, coalesce(content, id), channel, recipient, status, parts, 0, ${position}, expires_at, host FROM given
  )`;
}

const INSERT = `${insertMessages(COLUMNS, "0")}
  INSERT INTO jobs (queue, flow, message_id, parts, deadline, due_at)
  SELECT queue, flow, id, job_parts, expires_at, due_at FROM given WHERE queue IS NOT NULL`;

const INSERT_ALL = `${insertMessages(COLUMNS_WITH_POSITION, "position")}, new_entries AS (
    INSERT INTO timeline (message_id, position, at, kind, status, detail)
    SELECT message_id, 1, at, 'status', status, detail
    FROM (${rowsIn(ENTRY_COLUMNS, COLUMNS_WITH_POSITION)}) AS entries
  )
  INSERT INTO jobs (queue, flow, message_id, parts, deadline, due_at)
  ${rowsIn(JOB_COLUMNS, COLUMNS_WITH_POSITION, ENTRY_COLUMNS)}`;

/** The first and the last message of a request. */
export function endsOf(messages: readonly NewMessage[]): { first: NewMessage; last: NewMessage } {
  const first = messages[0];
  const last = messages.at(-1);
  if (!first || !last) throw new Error("a request has at least one message");
  return { first, last };
}

/** Returns what makes the row of each message of a request, in the order of `COLUMNS`. */
function rowsOf({ request, account }: Taken, queueNumber: (name: string) => number) {
  const { content, messages } = request;
  const { callbackUrl, channel } = content;
  const host = callbackUrl === undefined ? null : hostOf(callbackUrl);
  const { first, last } = endsOf(messages);
  const { envelope, body } = splitContent(content);
  const lastId = last === first ? null : last.id;
  const ofContent = [envelope, body, messages.length, lastId] as const;
  const flow = flowNumber(account, request.flow);
  return (message: NewMessage): Row => {
    const { id, recipient, status, expiresAt, dueAt = null } = message;
    const isFirst = message === first;
    const [job] = message.jobs;
    const jobParts = job?.parts ? JSON.stringify(job.parts) : null;
    return [
      id,
      account,
      isFirst ? null : first.id,
      channel,
      recipient,
      status,
      fromParts(message.parts),
      expiresAt,
      host,
      ...(isFirst ? ofContent : NO_CONTENT),
      ...(job ? [queueNumber(job.queue), flow, jobParts, dueAt] : NO_JOB),
    ];
  };
}

const NO_CONTENT = [null, null, null, null];
const NO_JOB = [null, null, null, null];

/** In the order of `ENTRY_COLUMNS`. */
function entryRow({ id, status, deferral }: NewMessage): Row {
  return [id, uuidTime(id) ?? 0, status, JSON.stringify(deferral)];
}

/** In the order of `JOB_COLUMNS`. */
function jobRows({ request, account }: Taken, queueNumber: (name: string) => number): readonly Row[] {
  const flow = flowNumber(account, request.flow);
  return request.messages.flatMap(({ id, expiresAt, dueAt = null, jobs }) =>
    jobs.map(({ queue, parts }) => {
      const covered = parts ? JSON.stringify(parts) : null;
      return [queueNumber(queue), flow, id, covered, expiresAt, dueAt];
    }),
  );
}
