import { isLargeContent } from "../../../core/email/large-body.ts";
import type { AcceptRequest, NewJob, NewMessage } from "../../../core/messages/accept-request.ts";
import type { Content } from "../../../core/messages/message.ts";
import type { LimitedRequest } from "../../../core/messages/sending-limits.ts";
import { present } from "../../../core/present.ts";
import { hostOf } from "../../../core/webhooks/webhook-outbox.ts";
import { fromParts, splitContent } from "../../messages/message-rows.ts";
import type { BodyTexts } from "../messages/content-pieces.ts";

/**
 * An `AcceptRequest` as its rows take it: flat, so that it crosses to another thread cheaply, and with everything
 * that is stored as JSON written already, so that it is written once.
 */
export type PackedAccept = readonly [
  accountId: string,
  flow: AcceptRequest["flow"],
  channel: string,
  envelope: string,
  body: string | null,
  key: PackedKey | null,
  messages: readonly PackedMessage[],
  limited: LimitedRequest | null,
  /** Where webhooks of its messages go. */
  callbackHost: string | null,
  /** Those that are kept in pieces, and are not in `body`. */
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
  /** One after the other: the queue, and the parts the job covers. */
  jobs: readonly (string | null)[],
];

/** As it comes: it is one object, and its names are few. */
export type PackedKey = NonNullable<AcceptRequest["idempotency"]>;

export function packAccept(request: AcceptRequest): PackedAccept {
  const { content, texts } = takeApart(request.content);
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

function takeApart(content: Content): { readonly content: Content; readonly texts: BodyTexts | null } {
  if (content.channel !== "email" || !isLargeContent(content)) return { content, texts: null };
  const { bodyText, bodyHtml, ...rest } = content;
  return { content: { ...rest, isBodyApart: true }, texts: present({ bodyText, bodyHtml }) };
}

function packMessage(message: NewMessage): PackedMessage {
  const { id, recipient, status, parts, expiresAt, dueAt, deferral, jobs } = message;
  const why = deferral ? JSON.stringify(deferral) : null;
  return [id, recipient, status, fromParts(parts), expiresAt, dueAt ?? null, why, packJobs(jobs)];
}

function packJobs(jobs: readonly NewJob[]): PackedMessage[7] {
  const packed: (string | null)[] = [];
  for (const job of jobs) packed.push(job.queue, job.parts ? JSON.stringify(job.parts) : null);
  return packed;
}
