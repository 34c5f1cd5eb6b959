import type { EmailContent } from "../../../core/messages/message.ts";
import { type ComposedMail, composeMail, type MailToCompose } from "./compose-mail.ts";

/** `composeMail` on another thread, for mail that takes long to compose. */
export type ComposeLarge = (mail: MailToCompose) => Promise<ComposedMail>;

/**
 * A body with more characters than this is composed in pieces. In every turn of the event loop a piece of each mail under way is
 * composed, which with fifty connections takes a second. So such a mail goes to the other thread, well before its body counts as large.
 */
const ONE_PIECE = 65_536;

/** Composes mail of more than a piece on the other thread. The octets are the same either way. */
export function composeWhereFit(mail: MailToCompose, composeLarge: ComposeLarge): Promise<ComposedMail> {
  return isLong(mail.content) ? composeLarge(toClonable(mail)) : composeMail(mail);
}

function isLong({ bodyText = "", bodyHtml = "" }: EmailContent): boolean {
  return bodyText.length + bodyHtml.length > ONE_PIECE;
}

/** Only the fields that composing needs, and keys as PEM, since not every runtime can pass a `KeyObject` to a thread. */
function toClonable({ messageId, createdAt, content, dkim }: MailToCompose): MailToCompose {
  const keys = dkim?.map(({ domain, selector, privateKey }) => ({
    domain,
    selector,
    privateKey:
      typeof privateKey === "string"
        ? privateKey
        : privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  }));
  return { messageId, createdAt, content, ...(keys && { dkim: keys }) };
}
