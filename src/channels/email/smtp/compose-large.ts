import { isLargeContent } from "../../../core/email/large-body.ts";
import { type ComposedMail, composeMail, type MailToCompose } from "./compose-mail.ts";

/** `composeMail` on another thread, for mail that takes long. */
export type ComposeAside = (mail: MailToCompose) => Promise<ComposedMail>;

/** Large mail is made aside where that can be had; the octets are the same. */
export function composeWhereFit(mail: MailToCompose, aside?: ComposeAside): Promise<ComposedMail> {
  return aside && isLargeContent(mail.content) ? aside(toClonable(mail)) : composeMail(mail);
}

/** Only what composing needs; and a key of `node:crypto` is no thing that every runtime hands to a thread. */
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
