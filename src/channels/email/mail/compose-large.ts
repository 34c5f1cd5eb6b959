import { isLargeContent } from "../../../core/email/large-body.ts";
import { type ComposedMail, composeMail, type MailToCompose } from "./compose-mail.ts";

/** `composeMail` on another thread, for mail that takes long. */
export type ComposeLarge = (mail: MailToCompose) => Promise<ComposedMail>;

/** Composes large mail on the other thread if there is one. The octets are the same either way. */
export function composeWhereFit(mail: MailToCompose, composeLarge?: ComposeLarge): Promise<ComposedMail> {
  return composeLarge && isLargeContent(mail.content) ? composeLarge(toClonable(mail)) : composeMail(mail);
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
