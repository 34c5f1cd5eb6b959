/** Reads a returned mail: a bounce, a complaint, or neither. Pure, and never throws. */
import { type DsnRecipient, readDsn } from "./dsn.ts";
import { type Feedback, readFeedback } from "./feedback.ts";
import { type Entity, header, parseEntity } from "./mime.ts";
import { readTextBounce } from "./text-bounce.ts";

export type ReturnMail =
  /** At least one recipient. */
  | { readonly kind: "dsn"; readonly recipients: readonly DsnRecipient[] }
  | { readonly kind: "feedback"; readonly feedback: Feedback }
  /** An automatic answer: out of office, ticket numbers. */
  | { readonly kind: "auto_reply" }
  /** It has passed too many servers (RFC 5321 §6.3). */
  | { readonly kind: "loop" }
  | { readonly kind: "other" };

const MAX_HOPS = 100;

/** @param isFromNobody it came from the null sender, as bounces do (RFC 5321 §4.5.5) */
export function readReturnMail(
  raw: Uint8Array,
  isFromNobody = false,
): ReturnMail & { readonly subject: string } {
  const mail = parseEntity(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1"));
  return { ...read(mail, isFromNobody), subject: header(mail, "subject") };
}

function read(mail: Entity, isFromNobody: boolean): ReturnMail {
  if ((mail.headers.get("received")?.length ?? 0) >= MAX_HOPS) return { kind: "loop" };
  const feedback = readFeedback(mail);
  if (feedback) return { kind: "feedback", feedback };
  const recipients = readDsn(mail);
  if (recipients) return { kind: "dsn", recipients };
  if (isAutoReply(mail)) return { kind: "auto_reply" };
  const bounce = readTextBounce(mail, isFromNobody);
  return bounce ? { kind: "dsn", recipients: [bounce] } : { kind: "other" };
}

/** By RFC 3834 §5, and by headers older than it. Bounces may be `auto-generated`; answers are `auto-replied`. */
function isAutoReply(mail: Entity): boolean {
  if (/^auto-replied\b/i.test(header(mail, "auto-submitted")))
    return !mail.headers.has("x-failed-recipients");
  if (/^auto[_-]reply$/i.test(header(mail, "precedence"))) return true;
  return ["x-autoreply", "x-autorespond", "x-autoresponder"].some((name) => mail.headers.has(name));
}
