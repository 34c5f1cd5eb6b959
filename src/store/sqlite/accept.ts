import type { AcceptRequest, AcceptResult, NewMessage } from "../../core/accept-request.ts";
import type { AccountBook } from "./account-book.ts";
import type { Database } from "./database.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import type { QueueBook } from "./queue-book.ts";
import { fromParts, splitContent } from "./rows.ts";

export interface AcceptParts {
  readonly accounts: AccountBook;
  readonly queues: QueueBook;
  readonly keys: IdempotencyKeys;
}

/** `Intake.accept`: content, messages, jobs, key and answer, all or nothing. */
export function createAccept(
  db: Database,
  { accounts, queues, keys }: AcceptParts,
): (request: AcceptRequest) => Promise<AcceptResult> {
  const insertContent = createContentInsert(db);
  const insertMessage = createMessageInsert(db);
  const insertJob = createJobInsert(db);

  const acceptNow = (request: AcceptRequest): AcceptResult => {
    const { idempotency, accountId } = request;
    const answer = idempotency && keys.find(idempotency);
    if (answer) return { kind: "replay", answer };
    const entry = accounts.byId(accountId);
    if (!entry) throw new Error("messages need an account that exists");
    accounts.markUsed(entry);
    const content = insertContent(request);
    const flow = entry.number * 2 + (request.flow === "batch" ? 1 : 0);
    for (const message of request.messages) {
      insertMessage(message, { account: entry.number, content, channel: request.content.channel });
      for (const job of message.jobs) {
        insertJob(message, { queue: queues.numberFor(job.queue), flow, parts: job.parts });
        if (message.dueAt === undefined) queues.ring(job.queue);
      }
    }
    if (idempotency) keys.save(idempotency, idempotency.answer);
    return { kind: "accepted" };
  };

  return (request) => db.write(() => acceptNow(request), request.messages.length);
}

function createContentInsert(db: Database): (request: AcceptRequest) => number {
  const insert = db.prepare(
    "INSERT INTO contents (id, envelope, body, messages, first_message_id, last_message_id) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const nextId = createCounter(db, "contents");
  return ({ content, messages }) => {
    const first = messages[0];
    const last = messages.at(-1);
    if (!first || !last) throw new Error("a request has at least one message");
    const id = nextId();
    const { envelope, body } = splitContent(content);
    insert.run(id, envelope, body, messages.length, first.id, last.id);
    return id;
  };
}

interface MessageFrame {
  readonly account: number;
  readonly content: number;
  readonly channel: string;
}

function createMessageInsert(db: Database): (message: NewMessage, frame: MessageFrame) => void {
  const insert = db.prepare(
    `INSERT INTO messages (id, account, content, channel, recipient, status, parts, sequence, position, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?)`,
  );
  return (message, frame) => {
    insert.run(
      message.id,
      frame.account,
      frame.content,
      frame.channel,
      message.recipient,
      message.status,
      fromParts(message.parts),
      message.expiresAt,
    );
  };
}

interface JobFrame {
  readonly queue: number;
  readonly flow: number;
  readonly parts: readonly number[] | undefined;
}

function createJobInsert(db: Database): (message: NewMessage, frame: JobFrame) => void {
  const insert = db.prepare(
    `INSERT INTO jobs (id, queue, flow, message_id, parts, deadline, due_at, is_leased, was_interrupted, claim, attempt)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0)`,
  );
  const nextId = createCounter(db, "jobs");
  return (message, { queue, flow, parts }) => {
    const covered = parts ? JSON.stringify(parts) : null;
    insert.run(nextId(), queue, flow, message.id, covered, message.expiresAt, message.dueAt ?? null);
  };
}

/** Numbers a table's rows, never twice in this process: a number that came back would pass for the job it once was. */
function createCounter(db: Database, table: "jobs" | "contents"): () => number {
  let last = db.prepare<{ last: number | null }>(`SELECT max(id) AS last FROM ${table}`).get()?.last ?? 0;
  return () => ++last;
}
