import type { AcceptRequest, NewMessage } from "../../../core/messages/accept-request.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { hostOf } from "../../../core/webhooks/webhook-outbox.ts";
import { fromParts, splitContent } from "../../messages/message-rows.ts";
import type { Session } from "../database/driver.ts";

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
export async function insertAccepted(
  session: Session,
  taken: readonly Taken[],
  queueNumber: (name: string) => number,
): Promise<void> {
  const columns = NAMES.map((): (string | number | null)[] => []);
  for (const one of taken) {
    const rowOf = rowsOf(one, queueNumber);
    for (const message of one.request.messages)
      rowOf(message).forEach((value, index) => void columns[index]?.push(value));
  }
  const notes = taken.flatMap(({ request }) => request.messages.filter(({ deferral }) => deferral));
  const isPlain = taken.every(({ request }) => request.messages.every(({ jobs }) => jobs.length < 2));
  if (isPlain && notes.length === 0) return void (await session.query(INSERT, columns));
  const jobs = taken.flatMap((one) => jobRows(one, queueNumber));
  await session.query(INSERT_ALL, [
    ...columns,
    taken.flatMap(({ request }) => request.messages.map(({ deferral }) => (deferral ? 1 : 0))),
    notes.map(({ id }) => id),
    notes.map(({ id }) => uuidTime(id) ?? 0),
    notes.map(({ status }) => status),
    notes.map(({ deferral }) => JSON.stringify(deferral)),
    jobs.map((row) => row.queue),
    jobs.map((row) => row.flow),
    jobs.map((row) => row.messageId),
    jobs.map((row) => row.parts),
    jobs.map((row) => row.deadline),
    jobs.map((row) => row.dueAt),
  ]);
}

/** `content` is NULL where it is the message's own id; `last` where there is one message; `queue` where there is no job. */
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
} as const;

const NAMES = Object.keys(COLUMNS);

/** The part that both statements share: contents and messages, with or without a column for positions. */
const insertMessages = ({ hasPositions }: { readonly hasPositions: boolean }) => {
  const columns = Object.entries({ ...COLUMNS, ...(hasPositions && { position: "int" }) });
  const types = columns.map(([, type], index) => `$${index + 1}::${type}[]`);
  return `WITH given AS MATERIALIZED (
    SELECT * FROM unnest(${types.join(", ")}) AS t (${columns.map(([name]) => name).join(", ")})
  ), new_contents AS (
    INSERT INTO contents (id, envelope, body, messages, last_message_id)
    SELECT id, envelope, body, messages, coalesce(last, id) FROM given WHERE envelope IS NOT NULL
  ), new_messages AS (
    INSERT INTO messages (id, account, content, channel, recipient, status, parts, sequence, position, expires_at,
      callback_host)
    SELECT id, account, coalesce(content, id), channel, recipient, status, parts, 0,
      ${hasPositions ? "position" : "0"}, expires_at, host FROM given
  )`;
};

const INSERT = `${insertMessages({ hasPositions: false })}
  INSERT INTO jobs (queue, flow, message_id, parts, deadline, due_at)
  SELECT queue, flow, id, job_parts, expires_at, due_at FROM given WHERE queue IS NOT NULL`;

const INSERT_ALL = `${insertMessages({ hasPositions: true })}, new_entries AS (
    INSERT INTO timeline (message_id, position, at, kind, status, detail)
    SELECT message_id, 1, at, 'status', status, detail
    FROM unnest($19::uuid[], $20::bigint[], $21::text[], $22::text[]) AS t (message_id, at, status, detail)
  )
  INSERT INTO jobs (queue, flow, message_id, parts, deadline, due_at)
  SELECT * FROM unnest($23::int[], $24::int[], $25::uuid[], $26::text[], $27::bigint[], $28::bigint[])`;

/** The first and the last message of a request. */
export function endsOf(messages: readonly NewMessage[]): { first: NewMessage; last: NewMessage } {
  const first = messages[0];
  const last = messages.at(-1);
  if (!first || !last) throw new Error("a request has at least one message");
  return { first, last };
}

/** Returns what makes the row of each message of a request: values in the order of `COLUMNS`. */
function rowsOf({ request, account }: Taken, queueNumber: (name: string) => number) {
  const { content, messages } = request;
  const { callbackUrl, channel } = content;
  const host = callbackUrl === undefined ? null : hostOf(callbackUrl);
  const { first, last } = endsOf(messages);
  const { envelope, body } = splitContent(content);
  const lastId = last === first ? null : last.id;
  const ofContent = [envelope, body, messages.length, lastId] as const;
  const flow = flowOf(request, account);
  return (message: NewMessage): readonly (string | number | null)[] => {
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

function jobRows({ request, account }: Taken, queueNumber: (name: string) => number) {
  const flow = flowOf(request, account);
  return request.messages.flatMap(({ id: messageId, expiresAt: deadline, dueAt = null, jobs }) =>
    jobs.map(({ queue, parts }) => ({
      queue: queueNumber(queue),
      flow,
      messageId,
      parts: parts ? JSON.stringify(parts) : null,
      deadline,
      dueAt,
    })),
  );
}

/** Singles and batches of an account take turns. */
function flowOf({ flow }: AcceptRequest, account: number): number {
  return account * 2 + (flow === "batch" ? 1 : 0);
}
