/** Reports of mail servers that tell the reason only in the words for people. The shapes are real, the names their own. */
import { type Bounced, lines, postfixDsn, RECIPIENT, RETURN_PATH } from "./bounce-mails.ts";

/** Exim's report where it has decided by itself: no Diagnostic-Code, the reason only for people. */
export function eximDsn({ recipient = RECIPIENT, returnPath = RETURN_PATH, reply }: Bounced = {}): string {
  return lines(
    `X-Failed-Recipients: ${recipient}`,
    "Auto-Submitted: auto-replied",
    "From: Mail Delivery System <Mailer-Daemon@mx.example.net>",
    `To: ${returnPath}`,
    "Content-Type: multipart/report; report-type=delivery-status; boundary=1796007715-eximdsn-1475793202",
    "MIME-Version: 1.0",
    "Subject: Mail delivery failed: returning message to sender",
    "",
    "--1796007715-eximdsn-1475793202",
    "Content-type: text/plain; charset=us-ascii",
    "",
    "This message was created automatically by mail delivery software.",
    "",
    "A message that you sent could not be delivered to one or more of its",
    "recipients. This is a permanent error. The following address(es) failed:",
    "",
    `  ${recipient}`,
    ...(reply ?? "Unrouteable address").split("\n").map((line) => `    ${line}`),
    "",
    "--1796007715-eximdsn-1475793202",
    "Content-type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.net",
    "",
    "Action: failed",
    `Final-Recipient: rfc822;${recipient}`,
    "Status: 5.0.0",
    "",
    "--1796007715-eximdsn-1475793202--",
    "",
  );
}

/** OpenSMTPD's: never a Diagnostic-Code, every status of a failure is 5.0.0, and no multipart/report. */
export function openSmtpdDsn(over: Bounced = {}) {
  const {
    recipient = RECIPIENT,
    returnPath = RETURN_PATH,
    reply,
    action = "failed",
    status = "5.0.0",
  } = over;
  const refusal = reply ?? `550 5.1.1 <${recipient}>: Recipient address rejected: User unknown`;
  return lines(
    `Subject: Delivery status notification: ${action}`,
    "From: Mailer Daemon <MAILER-DAEMON@mx.example.net>",
    `To: ${returnPath}`,
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed;boundary="5849731643870228070/mx.example.net"',
    "",
    "This is a MIME-encapsulated message.",
    "",
    "--5849731643870228070/mx.example.net",
    "Content-Description: Notification",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "    Hi!",
    "",
    "    This is the MAILER-DAEMON, please DO NOT REPLY to this email.",
    "",
    "    An error has occurred while attempting to deliver a message for",
    "    the following list of recipients:",
    "",
    `${recipient}: ${refusal}`,
    "",
    "    Below is a copy of the original message:",
    "",
    "--5849731643870228070/mx.example.net",
    "Content-Description: Delivery Report",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.net",
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    "",
    "--5849731643870228070/mx.example.net--",
    "",
  );
}

/** Sendmail's: Final-Recipient is the address of RCPT TO, also where that is an alias of `leadsTo`. */
export function sendmailDsn({ leadsTo = RECIPIENT }: { readonly leadsTo?: string } = {}): string {
  const reply = "550 5.1.1 User unknown";
  return lines(
    "From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>",
    `To: ${RETURN_PATH}`,
    'Content-Type: multipart/report; report-type=delivery-status; boundary="x9K/mx.example.net"',
    "Subject: Returned mail: see transcript for details",
    "",
    "--x9K/mx.example.net",
    "",
    "   ----- The following addresses had permanent fatal errors -----",
    `<${leadsTo}>`,
    `    (reason: ${reply})`,
    `    (expanded from: <${RECIPIENT}>)`,
    "",
    "   ----- Transcript of session follows -----",
    `>>> RCPT To:<${leadsTo}>`,
    `<<< ${reply}`,
    "",
    "--x9K/mx.example.net",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.net",
    "",
    `Final-Recipient: RFC822; ${RECIPIENT}`,
    `X-Actual-Recipient: RFC822; ${leadsTo}`,
    "Action: failed",
    "Status: 5.1.1",
    `Diagnostic-Code: SMTP; ${reply}`,
    "",
    "--x9K/mx.example.net--",
    "",
  );
}

/** Postfix's about a mail with SMTPUTF8 (RFC 6533): the same report, but in UTF-8. */
export function internationalDsn(over: Bounced = {}): string {
  return postfixDsn(over)
    .replaceAll("rfc822;", "utf-8;")
    .replace("message/delivery-status", "message/global-delivery-status")
    .replace("text/rfc822-headers", "message/global-headers")
    .replace("us-ascii", "utf-8");
}

/** Exim's about the same: octets outside ASCII are in octal wherever people read, and the original recipient is in xtext. */
export function internationalEximDsn({ recipient = RECIPIENT, reply }: Bounced): string {
  const octets = Buffer.from(recipient);
  const escaped = (write: (octet: number) => string) =>
    Array.from(octets, (octet) => (octet < 128 ? String.fromCharCode(octet) : write(octet))).join("");
  const octal = escaped((octet) => `\\${octet.toString(8)}`);
  const xtext = escaped((octet) => `+${octet.toString(16).toUpperCase()}`);
  return eximDsn({ recipient: octal, ...(reply !== undefined && { reply }) })
    .replace(`rfc822;${octal}`, `rfc822;${recipient}`)
    .replace("Action: failed", `Original-Recipient: rfc822;${xtext}\r\nAction: failed`)
    .replace("message/delivery-status", "message/global-delivery-status");
}
