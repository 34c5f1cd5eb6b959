import { isLargeContent } from "../../../core/email/large-body.ts";
import type { AcceptRequest, NewJob, NewMessage } from "../../../core/messages/accept-request.ts";
import type { Content } from "../../../core/messages/message.ts";
import type { LimitedRequest } from "../../../core/messages/sending-limits.ts";
import { present } from "../../../core/present.ts";
import { hostOf } from "../../../core/webhooks/webhook-outbox.ts";
import { fromParts, splitContent } from "../../messages/message-rows.ts";
import type { BodyTexts } from "../messages/content-pieces.ts";

/**
 * An `AcceptRequest` in the form in which it is stored. It is a tuple without field names, so that sending it to the writing thread
 * is cheap; what is stored as JSON is text already, so that it is serialized only once.
 */
export type PackedAccept = readonly [
  accountId: string,
  flow: AcceptRequest["flow"],
  channel: Content["channel"],
  envelope: string,
  body: string | null,
  key: PackedKey | null,
  messages: readonly PackedMessage[],
  limited: LimitedRequest | null,
  /** The host to which webhooks about its messages are sent. */
  callbackHost: string | null,
  /** Texts that are stored in pieces, and so are not in `body`. */
  texts: BodyTexts | null,
];

export type PackedMessage = readonly [
  id: string,
  recipient: string,
  status: NewMessage["status"],
  parts: string | null,
  expiresAt: number,
  dueAt: number | null,
  deferral: string | null,
  jobs: PackedJobs,
];

/** Two items for each job: its queue, and the indexes of the parts it covers, as JSON (`null`: all). */
type PackedJobs = readonly (string | null)[];

export function messagesOf(request: PackedAccept): readonly PackedMessage[] {
  return request[6];
}

export function textsOf(request: PackedAccept): BodyTexts | null {
  return request[9];
}

export function idOf(message: PackedMessage): string {
  return message[0];
}

export function recipientOf(message: PackedMessage): string {
  return message[1];
}

/** An object and no tuple: there is one per request, and it has few names. */
export type PackedKey = NonNullable<AcceptRequest["idempotency"]>;

export function packAccept(request: AcceptRequest): PackedAccept {
  const { content, texts } = splitLargeTexts(request.content);
  const { envelope, body } = splitContent(content);
  const { callbackUrl } = content;
  return [
    request.accountId,
    request.flow,
    content.channel,
    envelope,
    body,
    request.idempotency ?? null,
    request.messages.map(packMessage),
    request.limited ?? null,
    callbackUrl === undefined ? null : hostOf(callbackUrl),
    texts,
  ];
}

function splitLargeTexts(content: Content): { readonly content: Content; readonly texts: BodyTexts | null } {
  if (content.channel !== "email" || !isLargeContent(content)) return { content, texts: null };
  const { bodyText, bodyHtml, ...rest } = content;
  return { content: { ...rest, isBodyApart: true }, texts: present({ bodyText, bodyHtml }) };
}

function packMessage(message: NewMessage): PackedMessage {
  const { id, recipient, status, parts, expiresAt, dueAt, deferral, jobs } = message;
  const why = deferral ? JSON.stringify(deferral) : null;
  return [id, recipient, status, fromParts(parts), expiresAt, dueAt ?? null, why, packJobs(jobs)];
}

function packJobs(jobs: readonly NewJob[]): PackedJobs {
  const packed: (string | null)[] = [];
  for (const job of jobs) packed.push(job.queue, job.parts ? JSON.stringify(job.parts) : null);
  return packed;
}
