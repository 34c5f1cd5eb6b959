/** The rows of messages and contents, and how they are converted from and to the types of `core`. */
import type {
  ChannelName,
  Content,
  MessageError,
  MessageStatus,
  Part,
  Progress,
  SmsContent,
  TimelineEntry,
} from "../../core/messages/message.ts";
import { jsonWithVariables } from "../../core/sms/json-with-variables.ts";

export const MESSAGE_COLUMNS =
  "id, account, content, channel, recipient, status, parts, sequence, position, error, expires_at, callback_host";

export interface MessageRow {
  readonly id: string;
  readonly account: number;
  readonly content: number;
  readonly channel: ChannelName;
  readonly recipient: string;
  readonly status: MessageStatus;
  readonly parts: string | null;
  readonly sequence: number;
  readonly position: number;
  readonly error: string | null;
  readonly expires_at: number;
  readonly callback_host: string | null;
}

export const TIMELINE_COLUMNS = "position, at, kind, status, sequence, event_type, recipient, error, detail";

export interface TimelineRow {
  readonly position: number;
  readonly at: number;
  readonly kind: TimelineEntry["kind"];
  readonly status: TimelineEntry["status"];
  readonly sequence: number | null;
  readonly event_type: string | null;
  readonly recipient: string | null;
  readonly error: string | null;
  readonly detail: string | null;
}

export type ProgressRow = Pick<
  MessageRow,
  "channel" | "status" | "parts" | "sequence" | "position" | "error"
>;

export function toProgress(row: ProgressRow): Progress {
  const { channel, status, sequence, position, error } = row;
  const progress = { channel, status, parts: toParts(row.parts), sequence, position };
  // Few messages have an error, and an object made by spreading takes more memory.
  return error === null ? progress : { ...progress, error: JSON.parse(error) as MessageError };
}

export function fromParts(parts: readonly Part[]): string | null {
  return parts.length === 0 ? null : JSON.stringify(parts);
}

export function toJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function toParts(text: string | null): readonly Part[] {
  return text === null ? NO_PARTS : (JSON.parse(text) as Part[]);
}

const NO_PARTS: readonly Part[] = [];

/** The indexes of the parts that a job covers, from its JSON; absent: all parts. */
export function toIndexes(text: string | null): { parts?: readonly number[] } {
  return text === null ? {} : { parts: JSON.parse(text) as number[] };
}

export function toTimelineEntry(row: TimelineRow): TimelineEntry {
  return {
    position: row.position,
    at: row.at,
    kind: row.kind,
    status: row.status,
    ...(row.sequence !== null && { sequence: row.sequence }),
    ...(row.event_type !== null && { eventType: row.event_type }),
    ...(row.recipient !== null && { recipient: row.recipient }),
    ...(row.error !== null && { error: JSON.parse(row.error) as MessageError }),
    ...(row.detail !== null && { detail: JSON.parse(row.detail) as NonNullable<TimelineEntry["detail"]> }),
  };
}

/** Splits content into the envelope, which is kept, and the body, which is wiped once no attempt can need it any more. */
export function splitContent(content: Content): { envelope: string; body: string | null } {
  if (content.channel === "sms") {
    const { text } = content;
    return { envelope: smsEnvelope(content), body: text === undefined ? null : JSON.stringify({ text }) };
  }
  const { bodyHtml, bodyText, isBodyApart, headers, replyTo, ...envelope } = content;
  const body = toBody({ bodyHtml, bodyText, isBodyApart, headers, replyTo });
  return { envelope: JSON.stringify(envelope), body };
}

/** Everything but the text. */
function smsEnvelope(content: SmsContent): string {
  const { channel, from, templateId, templateDltId, dltTemplateId, dltEntityId, variables } = content;
  const { callbackUrl, tags, metadata, category, resolved } = content;
  return jsonWithVariables(
    {
      channel,
      from,
      templateId,
      templateDltId,
      dltTemplateId,
      dltEntityId,
      callbackUrl,
      tags,
      metadata,
      category,
      resolved,
    } satisfies Enveloped,
    variables,
  );
}

/** Makes the compiler complain if a new field is forgotten above. */
type Enveloped = Readonly<Record<keyof Omit<SmsContent, "text" | "variables">, unknown>>;

/** `JSON.stringify` leaves out what is undefined. */
function toBody(body: Readonly<Record<string, unknown>>): string | null {
  const text = JSON.stringify(body);
  return text === "{}" ? null : text;
}

export function joinContent(envelope: string, body: string | null): Content {
  const kept = JSON.parse(envelope) as Content;
  return body === null ? kept : { ...kept, ...JSON.parse(body) };
}
