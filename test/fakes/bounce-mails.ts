/** Mails as servers return them: the shapes of real reports, with names of their own. CRLF throughout. */

export interface Bounced {
  /** Whom the mail was for. */
  readonly recipient?: string;
  /** The reverse-path it went out with. */
  readonly returnPath?: string;
  /** `5.1.1`. */
  readonly status?: string;
  /** What the far server answered. */
  readonly reply?: string;
  readonly action?: string;
}

export const RECIPIENT = "ann@example.net";
export const RETURN_PATH = "b-none@bounces.acme.example";

/** Postfix: the DSN of `bounce(8)`. `reply` stands in the text and in Diagnostic-Code. */
export function postfixDsn(over: Bounced & { readonly stage?: string } = {}): string {
  const { recipient = RECIPIENT, returnPath = RETURN_PATH, status = "5.1.1", action = "failed" } = over;
  const {
    reply = "550 5.1.1 <ann@example.net>: Recipient address rejected: User unknown",
    stage = "RCPT TO",
  } = over;
  return lines(
    "Return-Path: <>",
    "Date: Sat, 21 Nov 2026 10:00:00 +0000 (UTC)",
    "From: MAILER-DAEMON@relay.example.com (Mail Delivery System)",
    "Subject: Undelivered Mail Returned to Sender",
    `To: ${returnPath}`,
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    "Content-Type: multipart/report; report-type=delivery-status;",
    '\tboundary="4F1C2A0B3D.1795000000/relay.example.com"',
    "",
    "This is a MIME-encapsulated message.",
    "",
    "--4F1C2A0B3D.1795000000/relay.example.com",
    "Content-Description: Notification",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "This is the mail system at host relay.example.com.",
    "",
    `<${recipient}>: host mx.example.net[192.0.2.25] said: ${reply} (in reply to`,
    `    ${stage} command)`,
    "",
    "--4F1C2A0B3D.1795000000/relay.example.com",
    "Content-Description: Delivery report",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; relay.example.com",
    "Original-Envelope-Id: 01997c6e-0000-7000-8000-000000000000",
    "X-Postfix-Queue-ID: 4F1C2A0B3D",
    "Arrival-Date: Sat, 21 Nov 2026 09:59:58 +0000 (UTC)",
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    `Original-Recipient: rfc822;${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    "Remote-MTA: dns; mx.example.net",
    `Diagnostic-Code: smtp; ${reply}`,
    "",
    "--4F1C2A0B3D.1795000000/relay.example.com",
    "Content-Description: Undelivered Message Headers",
    "Content-Type: text/rfc822-headers",
    "",
    `Return-Path: <${returnPath}>`,
    "Subject: Your order",
    "",
    "--4F1C2A0B3D.1795000000/relay.example.com--",
    "",
  );
}

/** Exchange Online: a vague human part in HTML, the code only in the diagnostic, no Original-Recipient. */
export function exchangeNdr({
  recipient = RECIPIENT,
  returnPath = RETURN_PATH,
  status = "5.1.10",
}: Bounced = {}) {
  return lines(
    "From: postmaster@contoso.example",
    `To: ${returnPath}`,
    "Subject: Undeliverable: Your order",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="_004_contoso_"',
    "MIME-Version: 1.0",
    "X-MS-Exchange-Message-Is-Ndr:",
    "",
    "--_004_contoso_",
    'Content-Type: multipart/alternative; differences=Content-Type; boundary="_004_contoso_inner_"',
    "",
    "--_004_contoso_inner_",
    'Content-Type: text/plain; charset="us-ascii"',
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "Your message couldn't be delivered=2E",
    "",
    "--_004_contoso_inner_",
    'Content-Type: text/html; charset="us-ascii"',
    "",
    "<p>Your message couldn't be delivered.</p>",
    "--_004_contoso_inner_--",
    "",
    "--_004_contoso_",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns;AM0PR01MB0001.eurprd01.prod.exchangelabs.com",
    "Received-From-MTA: dns;relay.example.com",
    "Arrival-Date: Sat, 21 Nov 2026 10:00:00 +0000",
    "",
    `Final-Recipient: rfc822;${recipient}`,
    "Action: failed",
    `Status: ${status}`,
    `Diagnostic-Code: smtp;550 ${status} RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP`,
    "  address lookup",
    "",
    "--_004_contoso_",
    "Content-Type: message/rfc822",
    "",
    "Subject: Your order",
    "",
    "Hello",
    "--_004_contoso_--",
    "",
  );
}

/** Gmail: LF-free base64 icon and all; the delivery-status part says 5.1.1. */
export function gmailDsn({ recipient = RECIPIENT, returnPath = RETURN_PATH }: Bounced = {}): string {
  return lines(
    "From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
    `To: ${returnPath}`,
    "Auto-Submitted: auto-replied",
    "Subject: Delivery Status Notification (Failure)",
    'Content-Type: multipart/report; boundary="000000000000a1"; report-type=delivery-status',
    "",
    "--000000000000a1",
    'Content-Type: multipart/related; boundary="000000000000a1b"',
    "",
    "--000000000000a1b",
    'Content-Type: text/plain; charset="UTF-8"',
    "",
    "** Address not found **",
    "",
    "The response from the remote server was:",
    "550 5.1.1 The email account that you tried to reach does not exist.",
    "--000000000000a1b",
    'Content-Type: image/png; name="icon.png"',
    "Content-Transfer-Encoding: base64",
    "",
    "iVBORw0KGgo=",
    "--000000000000a1b--",
    "--000000000000a1",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; googlemail.com",
    `Final-Recipient: rfc822; ${recipient}`,
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist.",
    "",
    "--000000000000a1--",
    "",
  );
}

/** Exim before it learned to send reports: text, and one header field. */
export function eximText({ recipient = RECIPIENT, returnPath = RETURN_PATH, reply }: Bounced = {}): string {
  return lines(
    `X-Failed-Recipients: ${recipient}`,
    "Auto-Submitted: auto-replied",
    "From: Mail Delivery System <Mailer-Daemon@mx.example.net>",
    `To: ${returnPath}`,
    "Subject: Mail delivery failed: returning message to sender",
    "",
    "This message was created automatically by mail delivery software.",
    "",
    "A message that you sent could not be delivered to one or more of its",
    "recipients. This is a permanent error. The following address(es) failed:",
    "",
    `  ${recipient}`,
    `    SMTP error from remote mail server after RCPT TO:<${recipient}>:`,
    `    host mx.example.net [192.0.2.25]: ${reply ?? "550 No such user here"}`,
    "",
    "------ This is a copy of the message, including all the headers. ------",
    "",
    "Subject: 421 4.0.0 is not what came back",
    "",
  );
}

/** qmail's QSBMF. */
export function qmailText({ recipient = RECIPIENT, returnPath = RETURN_PATH }: Bounced = {}): string {
  return lines(
    "From: MAILER-DAEMON@mx.example.net",
    `To: ${returnPath}`,
    "Subject: failure notice",
    "",
    "Hi. This is the qmail-send program at mx.example.net.",
    "I'm afraid I wasn't able to deliver your message to the following addresses.",
    "This is a permanent error; I've given up. Sorry it didn't work out.",
    "",
    `<${recipient}>:`,
    "Sorry, no mailbox here by that name. (#5.1.1)",
    "",
    "--- Below this line is a copy of the message.",
    "",
    `Return-Path: <${returnPath}>`,
    "",
  );
}

/** A complaint as feedback loops send it. */
export function feedbackReport(over: Complaint = {}): string {
  const { returnPath = RETURN_PATH, recipient, type = "abuse", quoted = QUOTED } = over;
  return lines(
    "From: <fbl@mailbox-provider.example>",
    "To: <abuse@bounces.acme.example>",
    "Subject: FW: Your order",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="part1_13d.2e68ed54"',
    "",
    "--part1_13d.2e68ed54",
    'Content-Type: text/plain; charset="US-ASCII"',
    "",
    "This is an email abuse report for an email message received from IP 192.0.2.1.",
    "",
    "--part1_13d.2e68ed54",
    "Content-Type: message/feedback-report",
    "",
    `Feedback-Type: ${type}`,
    "User-Agent: SomeGenerator/1.0",
    "Version: 1",
    `Original-Mail-From: <${returnPath}>`,
    ...(recipient === undefined ? [] : [`Original-Rcpt-To: <${recipient}>`]),
    "Source-IP: 192.0.2.1",
    "",
    "--part1_13d.2e68ed54",
    "Content-Type: message/rfc822",
    "",
    quoted,
    "--part1_13d.2e68ed54--",
    "",
  );
}

interface Complaint extends Bounced {
  readonly type?: string;
  /** The mail that is complained of. */
  readonly quoted?: string;
}

/** A report as a relay passes it on that encodes every part anew, quoted mails too (against RFC 2046 §5.2.1). */
export function reencoded(report: string, encoding: "base64" | "quoted-printable"): string {
  const boundary = /boundary="([^"]+)"/.exec(report)?.[1] ?? "";
  const [head = "", ...parts] = report.split(`--${boundary}`);
  const encode = (body: string) =>
    encoding === "base64"
      ? (
          Buffer.from(body)
            .toString("base64")
            .match(/.{1,76}/g) ?? []
        ).join("\r\n")
      : body.replaceAll("=", "=3D").replace(/[^\r\n]{70}(?=[^\r\n])/g, "$&=\r\n");
  const again = (part: string) => {
    const [fields = "", ...body] = part.split("\r\n\r\n");
    return body.length === 0
      ? part
      : `${fields}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${encode(body.join("\r\n\r\n"))}\r\n`;
  };
  return [head, ...parts.map(again)].join(`--${boundary}`);
}

const QUOTED = "From: <hello@acme.example>\r\nTo: <redacted>\r\nSubject: Your order\r\n\r\nHello";

export function outOfOffice({ returnPath = RETURN_PATH }: Bounced = {}): string {
  return lines(
    "From: Ann <ann@example.net>",
    `To: ${returnPath}`,
    "Subject: Automatic reply: Undeliverable until Monday",
    "Auto-Submitted: auto-replied",
    "Content-Type: text/plain",
    "",
    "I am away. Error 550 5.1.1 is not what this is about.",
    "",
  );
}

export function lines(...all: readonly string[]): string {
  return all.join("\r\n");
}
