/** Mails that servers return in other words, letters and parts than the standards say. */
import { expect, test } from "bun:test";
import { feedbackReport, outOfOffice, postfixDsn } from "../../../../test/fakes/bounce-mails.ts";
import { readReturnMail } from "./return-mail.ts";

const read = (mail: string) => readReturnMail(Buffer.from(mail));

/** A mail of plain text. */
function text(headers: Readonly<Record<string, string>>, ...body: readonly string[]): string {
  const head = Object.entries({ "Content-Type": "text/plain", ...headers });
  return [...head.map(([name, value]) => `${name}: ${value}`), "", ...body, ""].join("\r\n");
}

test.each([
  ["Action: Failed", "failed"],
  ["Action: FAILED (mailbox is gone)", "failed"],
  ["Action: Delayed", "delayed"],
  ["Action: bounced", "failed"],
  ["X-Nothing: here", "failed"],
])("in a report of 5.1.1 %p is read as %p", (line, action) => {
  const mail = postfixDsn().replace("Action: failed", line);
  expect(read(mail)).toMatchObject({ kind: "dsn", recipients: [{ action, code: "5.1.1" }] });
});

test.each([
  ["4.2.2", "452 4.2.2 full", "delayed"],
  ["2.1.5", "250 2.1.5 Ok", "delivered"],
] as const)("without an action %s is told by its first digit", (status, reply, action) => {
  const mail = postfixDsn({ status, reply }).replace("Action: failed", "X-Nothing: here");
  expect(read(mail)).toMatchObject({ recipients: [{ action, code: status }] });
});

test.each(["base64", "quoted-printable"] as const)(
  "a report whose fields are sent in %s is read as any other",
  (encoding) => {
    const plain = postfixDsn();
    const [whole = "", head = "", fields = ""] =
      /(Content-Type: message\/delivery-status\r\n)(\r\n[\s\S]*?)(?=\r\n--)/.exec(plain) ?? [];
    const octets = Buffer.from(fields.trimStart()).toString(encoding === "base64" ? "base64" : "hex");
    const body = encoding === "base64" ? octets : octets.replaceAll(/../g, (hex) => `=${hex}`);
    const lines = `${head}Content-Transfer-Encoding: ${encoding}\r\n\r\n${body}`;
    const { kind, ...rest } = read(plain.replace(whole, lines));
    expect({ kind, ...rest }).toEqual(read(plain));
    expect(kind).toBe("dsn");
  },
);

test("a report says which server refused whom", () => {
  expect(read(postfixDsn())).toMatchObject({
    recipients: [{ recipient: "ann@example.net", server: "mx.example.net", stage: "recipient" }],
  });
});

test.each([
  ["ABUSE", "complaint"],
  ["Not-Spam", "none"],
  ["Opt-Out", "unsubscribe"],
  ["something-new", "complaint"],
  ["constructor", "complaint"],
])("a feedback report of the type %s is read as %s", (type, kind) => {
  const mail = feedbackReport().replace(/^Feedback-Type: .*$/m, `Feedback-Type: ${type}`);
  expect(read(mail)).toMatchObject({ kind: "feedback", feedback: { kind, word: type.toLowerCase() } });
});

const DAEMON = { From: "Mail Delivery Subsystem <mailer-daemon@mx.example.net>" };
const REFUSED = ["Your mail could not be delivered to", "<ann@example.net>:", "   550 no such user here  "];

test.each([
  ["the server in From", { ...DAEMON, Subject: "Returned mail: see transcript" }],
  ["the null sender", { From: "mx@example.net", "Return-Path": "<>", Subject: "Undeliverable" }],
] as const)("a bounce in plain words is known by %s", (_, headers) => {
  expect(read(text(headers, ...REFUSED))).toMatchObject({
    kind: "dsn",
    recipients: [
      { action: "failed", code: "smtp.550", recipient: "ann@example.net", text: "550 no such user here" },
    ],
  });
});

const SORRY = "Sorry, no mailbox here by that name.";
const UNTOLD = { From: "mx@example.net", Subject: "Your mail of today" };

test.each([
  [
    "the words of qmail",
    UNTOLD,
    ["Hi. This is the qmail-send program at mx.example.net.", "", "<ann@example.net>:", SORRY],
    { recipient: "ann@example.net", text: SORRY },
  ],
  [
    "the header field of Exim",
    { ...UNTOLD, "X-Failed-Recipients": "ann@example.net" },
    ["We are sorry."],
    { recipient: "ann@example.net" },
  ],
] as const)(
  "a bounce without a reply code is known by %s, whatever its subject",
  (_, headers, body, told) => {
    expect(read(text(headers, ...body))).toHaveProperty("recipients", [{ action: "failed", ...told }]);
  },
);

test("a bounce in plain words says what was refused, where it tells the command", () => {
  const headers = { ...DAEMON, Subject: "Returned mail: see transcript" };
  const refused = "550 5.7.1 spam (in reply to end of DATA command)";
  expect(read(text(headers, "<ann@example.net>:", refused))).toMatchObject({
    recipients: [{ stage: "message", code: "5.7.1" }],
  });
});

test.each([
  [
    "a server's warning that it goes on trying",
    { ...DAEMON, Subject: "Warning: delivery failed so far" },
    REFUSED,
  ],
  ["a server's word that it is delayed", { ...DAEMON, Subject: "Mail delivery failed: delayed" }, REFUSED],
  ["a server's letter without a refusal", { ...DAEMON, Subject: "Undeliverable" }, ["We are sorry."]],
  ["a server's letter about something else", { ...DAEMON, Subject: "Your quota" }, REFUSED],
  ["what a person forwards", { From: "bob@example.net", Subject: "Undeliverable" }, REFUSED],
] as const)("%s is no bounce", (_, headers, body) => {
  expect(read(text(headers, ...body)).kind).toBe("other");
});

test.each([
  ["Auto-Submitted", "auto-replied (vacation)"],
  ["Precedence", "auto_reply"],
  ["X-Autoreply", "yes"],
  ["X-Autorespond", "on holiday"],
  ["X-Autoresponder", "1"],
])("an answer that nobody wrote is known by %s", (name, value) => {
  expect(read(text({ From: "ann@example.net", Subject: "Away", [name]: value }, "I am away.")).kind).toBe(
    "auto_reply",
  );
  expect(read(outOfOffice()).kind).toBe("auto_reply");
});
