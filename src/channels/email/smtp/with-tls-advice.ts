import type { MessageError } from "../../../core/messages/message.ts";
import { withCertificateAdvice } from "../../certificate-advice.ts";
import { withClearAdvice } from "../../tls-advice.ts";
import type { SmtpSettings } from "./smtp-config.ts";

/** Why no session with the relay was opened, for the operator: where TLS is the cause, with which field to change. */
export function withTlsAdvice({ code, message }: MessageError, { tls, ca }: SmtpSettings): string {
  const fields = { authority: "ca", hasAuthority: ca !== undefined, host: "`host`" };
  const advised = withCertificateAdvice(message, fields);
  return `${code}: ${tls === "implicit" ? withClearAdvice(advised, STARTTLS) : advised}`;
}

/** For the most common mistake with port 587, whose servers begin without TLS. */
const STARTTLS = "`tls` is to be `required`, which is STARTTLS";
