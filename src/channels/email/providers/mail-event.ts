import {
  type BounceKind,
  bounceKind,
  enhancedCodeIn,
  type Refusal,
} from "../../../core/email/bounce-kind.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";
import { isUuid } from "../../../core/uuid.ts";
import { toOneLine } from "../smtp/smtp-replies.ts";

/** What a provider's webhook reports about one recipient, in our terms. */
export interface MailEvent {
  readonly recipient: string;
  /** The id that the provider gave the mail. */
  readonly providerMessageId: string;
  /** Our message id, as the provider gives it back: bare, or as a Message-ID that begins with it. */
  readonly ownId?: string | undefined;
  readonly verdict: Verdict;
  /** The provider's own words: `Bounce HardBounce`. */
  readonly word: string;
}

export type Verdict = Pick<Receipt, "status" | "suppress" | "error">;

export const DELIVERED: Verdict = { status: "delivered" };
export const COMPLAINED: Verdict = { status: "complained", suppress: "complaint" };
export const UNSUBSCRIBED: Verdict = { status: "complained", suppress: "unsubscribe" };

/** A bounce. Its kind comes from the enhanced status code. If that says nothing, it is the provider's own (`otherwise`). */
export function bounced(refusal: Partial<Refusal>, otherwise: BounceKind): Verdict {
  const { code = "bounced", text = "" } = refusal;
  const kind = /^[245]\./.test(code) && !code.endsWith(".0.0") ? bounceKind({ ...refusal, code }) : otherwise;
  const error = { code, message: toOneLine(text) || "the provider reported a bounce" };
  return { status: "bounced", error, ...(kind !== "message" && { suppress: `${kind}_bounce` }) };
}

/** The provider did not try to send the mail. */
export function dropped(text: string, suppress?: Verdict["suppress"]): Verdict {
  const error = { code: "provider.dropped", message: toOneLine(text) || "the provider did not send it" };
  return { status: "failed", error, ...(suppress && { suppress }) };
}

/** The first enhanced status code (RFC 3463) in the texts. */
export function codeIn(...texts: readonly (string | undefined)[]): string | undefined {
  for (const text of texts) {
    const code = enhancedCodeIn(text ?? "");
    if (code !== undefined) return code;
  }
  return undefined;
}

const MAX_ID = 255;

/** The receipt of an event. It finds its message by our id if the provider gives that back, else by the provider's. */
export function toReceipt(connectorId: string, event: MailEvent, receivedAt: number): Receipt {
  const messageId = ownIdIn(event.ownId);
  return {
    connectorId,
    providerMessageId: event.providerMessageId.slice(0, MAX_ID),
    ...(messageId !== undefined && { target: { messageId } }),
    recipient: event.recipient,
    ...event.verdict,
    receivedAt,
    raw: toOneLine(event.word),
  };
}

function ownIdIn(text = ""): string | undefined {
  const id = /^<?([0-9a-f-]{36})(?:@|>|$)/i.exec(text.trim())?.[1];
  return id !== undefined && isUuid(id) ? id.toLowerCase() : undefined;
}

/** Values of JSON that somebody else wrote. */
export type Json = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_ENTRIES) : [];
}

/** The most entries to read from one list. */
const MAX_ENTRIES = 5_000;
