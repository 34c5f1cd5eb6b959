import type { OutgoingEmail } from "../channel.ts";
import { composeMail } from "../email/smtp/compose-mail.ts";
import { type Cutter, createCutter } from "./cutter.ts";
import type { Rendering } from "./rendering.ts";

/** Characters kept of the source and of each body. */
const MAX_FIELD = 256 * 1024;

/** The same over all recipients: each has an entry, so with many of them less is kept in each. */
const MAX_FIELD_OF_ALL = 2 * 1024 * 1024;

const MAX_HEADERS = 64 * 1024;

/** The message as it would be sent (`source`, RFC 5322) and field by field, cut to length. `copies`: how many entries hold it. */
export async function renderEmail(message: OutgoingEmail, copies: number): Promise<Rendering> {
  const { messageId, createdAt, content, dkim } = message;
  const mail = await composeMail({ messageId, createdAt, content, ...(dkim && { dkim }) });
  if (mail.kind === "refused") return mail;
  const cutter = createCutter();
  const limit = Math.min(MAX_FIELD, Math.floor(MAX_FIELD_OF_ALL / Math.max(1, copies)));
  const { from, to, cc, bcc, subject, bodyText, bodyHtml, headers, replyTo } = content;
  const rendered = {
    from,
    to,
    ...(cc && { cc }),
    ...(bcc && { bcc }),
    subject,
    ...(replyTo !== undefined && { reply_to: replyTo }),
    ...(headers && { headers: cutHeaders(headers, cutter) }),
    ...(bodyText !== undefined && { body_text: cutter.cut("body_text", bodyText, limit) }),
    ...(bodyHtml !== undefined && { body_html: cutter.cut("body_html", bodyHtml, limit) }),
    // A character has up to 4 octets: this is enough to exceed the limit, without decoding ten megabytes.
    source: cutter.cut("source", mail.raw.subarray(0, 4 * (limit + 1)).toString(), limit),
    ...cutter.note(),
  };
  return { kind: "rendered", rendered, detail: {} };
}

function cutHeaders(headers: Readonly<Record<string, string>>, cutter: Cutter): Record<string, string> {
  let left = MAX_HEADERS;
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const shown = cutter.cut("headers", value, Math.max(0, left - name.length));
    left -= name.length + shown.length;
    if (left > 0) kept.push([name, shown]);
  }
  return Object.fromEntries(kept);
}
