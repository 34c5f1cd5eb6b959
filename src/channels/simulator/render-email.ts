import type { OutgoingEmail } from "../channel.ts";
import { composeMail } from "../email/mail/compose-mail.ts";
import type { Rendering } from "./rendering.ts";
import { createTruncation, type Truncation } from "./truncation.ts";

/** How many characters to keep of the source and of each body. */
const MAX_FIELD = 256 * 1024;

/** How many characters to keep of a field over all recipients: each has an entry, so with many of them each keeps less. */
const MAX_FIELD_OF_ALL = 2 * 1024 * 1024;

const MAX_HEADERS = 64 * 1024;

/**
 * The message as it would be sent (`source`, RFC 5322) and field by field, cut to length. `copies`: in how many entries it is
 * stored.
 */
export async function renderEmail(message: OutgoingEmail, copies: number): Promise<Rendering> {
  const { messageId, createdAt, content, dkim } = message;
  const mail = await composeMail({ messageId, createdAt, content, ...(dkim && { dkim }) });
  if (mail.kind === "refused") return mail;
  const truncation = createTruncation();
  const limit = Math.min(MAX_FIELD, Math.floor(MAX_FIELD_OF_ALL / Math.max(1, copies)));
  const { from, to, cc, bcc, subject, bodyText, bodyHtml, headers, replyTo } = content;
  const rendered = {
    from,
    to,
    ...(cc && { cc }),
    ...(bcc && { bcc }),
    subject,
    ...(replyTo !== undefined && { reply_to: replyTo }),
    ...(headers && { headers: cutHeaders(headers, truncation) }),
    ...(bodyText !== undefined && { body_text: truncation.truncate("body_text", bodyText, limit) }),
    ...(bodyHtml !== undefined && { body_html: truncation.truncate("body_html", bodyHtml, limit) }),
    // A character has up to 4 octets: this is enough to exceed the limit, without decoding ten megabytes.
    source: truncation.truncate("source", mail.raw.subarray(0, 4 * (limit + 1)).toString(), limit),
    ...truncation.note(),
  };
  return { kind: "rendered", rendered, detail: {} };
}

function cutHeaders(
  headers: Readonly<Record<string, string>>,
  truncation: Truncation,
): Record<string, string> {
  let left = MAX_HEADERS;
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    // A name that is cut is another name.
    if (truncation.truncate("headers", name, left) !== name) break;
    const shown = truncation.truncate("headers", value, left - name.length);
    left -= name.length + shown.length;
    kept.push([name, shown]);
  }
  return Object.fromEntries(kept);
}
