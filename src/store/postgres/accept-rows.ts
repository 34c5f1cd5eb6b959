import type { AcceptRequest, NewMessage } from "../../core/accept-request.ts";
import { uuidTime } from "../../core/uuid.ts";
import { hostOf } from "../../core/webhook-outbox.ts";
import { fromParts, splitContent } from "../message-rows.ts";
import type { Session } from "./driver.ts";

/** A request that is taken, with the number of its account. */
export interface Taken {
  readonly request: AcceptRequest;
  readonly account: number;
}

/** Writes contents, messages, jobs and first entries of all of them, in one statement. */
export async function insertAccepted(
  session: Session,
  taken: readonly Taken[],
  queueNumber: (name: string) => number,
): Promise<void> {
  const contents = taken.map(({ request }) => contentRow(request));
  const messages = taken.flatMap(messageRows);
  const notes = messages.filter(({ note }) => note !== null);
  const jobs = taken.flatMap((one) => jobRows(one, queueNumber));
  await session.query(INSERT, [
    contents.map((row) => row.id),
    contents.map((row) => row.envelope),
    contents.map((row) => row.body),
    contents.map((row) => row.messages),
    contents.map((row) => row.last),
    messages.map((row) => row.id),
    messages.map((row) => row.account),
    messages.map((row) => row.content),
    messages.map((row) => row.channel),
    messages.map((row) => row.recipient),
    messages.map((row) => row.status),
    messages.map((row) => row.parts),
    messages.map((row) => (row.note === null ? 0 : 1)),
    messages.map((row) => row.expiresAt),
    messages.map((row) => row.host),
    notes.map((row) => row.id),
    notes.map((row) => uuidTime(row.id) ?? 0),
    notes.map((row) => row.status),
    notes.map((row) => row.note),
    jobs.map((row) => row.queue),
    jobs.map((row) => row.flow),
    jobs.map((row) => row.messageId),
    jobs.map((row) => row.parts),
    jobs.map((row) => row.deadline),
    jobs.map((row) => row.dueAt),
  ]);
}

const INSERT = `WITH new_contents AS (
    INSERT INTO contents (id, envelope, body, messages, last_message_id)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::uuid[])
  ), new_messages AS (
    INSERT INTO messages (id, account, content, channel, recipient, status, parts, sequence, position, expires_at,
      callback_host)
    SELECT id, account, content, channel, recipient, status, parts, 0, position, expires_at, callback_host
    FROM unnest($6::uuid[], $7::int[], $8::uuid[], $9::text[], $10::text[], $11::text[], $12::text[], $13::int[],
        $14::bigint[], $15::text[])
      AS t (id, account, content, channel, recipient, status, parts, position, expires_at, callback_host)
  ), new_entries AS (
    INSERT INTO timeline (message_id, position, at, kind, status, detail)
    SELECT message_id, 1, at, 'status', status, detail
    FROM unnest($16::uuid[], $17::bigint[], $18::text[], $19::text[]) AS t (message_id, at, status, detail)
  )
  INSERT INTO jobs (queue, flow, message_id, parts, deadline, due_at)
  SELECT * FROM unnest($20::int[], $21::int[], $22::uuid[], $23::text[], $24::bigint[], $25::bigint[])`;

function contentRow({ content, messages }: AcceptRequest) {
  const { envelope, body } = splitContent(content);
  const { first, last } = endsOf(messages);
  return { id: first.id, envelope, body, messages: messages.length, last: last.id };
}

/** The first and the last message of a request. */
export function endsOf(messages: readonly NewMessage[]): { first: NewMessage; last: NewMessage } {
  const first = messages[0];
  const last = messages.at(-1);
  if (!first || !last) throw new Error("a request has at least one message");
  return { first, last };
}

function messageRows({ request, account }: Taken) {
  const { content, messages } = request;
  const { callbackUrl, channel } = content;
  const host = callbackUrl === undefined ? null : hostOf(callbackUrl);
  const first = endsOf(messages).first.id;
  return messages.map(({ id, recipient, status, parts, expiresAt, deferral }) => ({
    id,
    account,
    content: first,
    channel,
    recipient,
    status,
    parts: fromParts(parts),
    expiresAt,
    host,
    note: deferral ? JSON.stringify(deferral) : null,
  }));
}

function jobRows({ request, account }: Taken, queueNumber: (name: string) => number) {
  const flow = account * 2 + (request.flow === "batch" ? 1 : 0);
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
