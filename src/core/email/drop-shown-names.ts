/** Erasure from the emails that the simulator keeps, each as JSON of its fields and its source. */
import { isRecipient } from "../messages/erasure.ts";

/** The email without the display names of the address; the address itself stays. */
export function dropShownNames(rendered: string, address: string): string {
  const mail = JSON.parse(rendered) as Record<string, unknown>;
  for (const field of ["to", "cc", "bcc"]) {
    if (Array.isArray(mail[field])) mail[field] = mail[field].map((one) => nameless(one, address));
  }
  if (typeof mail.source === "string") mail.source = dropInHeaders(mail.source, address);
  return JSON.stringify(mail);
}

function nameless(recipient: unknown, address: string): unknown {
  const { email } = (recipient ?? {}) as { readonly email?: unknown };
  return typeof email === "string" && isRecipient({ address: email }, address) ? { email } : recipient;
}

/** In headers (RFC 5322 §3.4) a name is a phrase, quoted or not, in front of the address in angle brackets. */
function dropInHeaders(source: string, address: string): string {
  const end = END_OF_HEADERS.exec(source)?.index ?? source.length;
  const headers = source
    .slice(0, end)
    .replaceAll(RECIPIENTS, (field) =>
      field.replaceAll(NAMED, (whole, lead: string, email: string) =>
        isRecipient({ address: email }, address) ? `${lead}<${email}>` : whole,
      ),
    );
  return headers + source.slice(end);
}

const END_OF_HEADERS = /\r?\n\r?\n/;
/** A header field, with all lines that it is folded into (RFC 5322 §2.2.3). */
const RECIPIENTS = /^(?:To|Cc|Bcc):.*(?:\r?\n[ \t].*)*/gim;
const NAMED = /((?:^[A-Za-z]+:|,)\s*)(?:"(?:[^"\\]|\\.)*"|[^",<>])*<([^<>]*)>/g;
