import { expect, test } from "bun:test";
import { aliasesIn, readDsn } from "./dsn.ts";
import { readFeedback } from "./feedback.ts";
import { parseEntity } from "./mime.ts";

type PartOfReport = readonly [type: string, text: string];

const STATUS = "message/delivery-status";
const FAILED = "Final-Recipient: rfc822; ann@example.net\r\nAction: failed\r\n";

/** A multipart/report of these parts; one with an empty type has no header. */
function report(...parts: readonly PartOfReport[]) {
  const bodies = parts.map(([type, text]) => `${type && `Content-Type: ${type}\r\n`}\r\n${text}\r\n`);
  const text = bodies.map((body) => `--b\r\n${body}`).join("");
  return parseEntity(`Content-Type: multipart/report; boundary=b\r\n\r\n${text}--b--\r\n`);
}

const codeOf = (fields: string) => readDsn(report([STATUS, `${FAILED}${fields}`]))?.[0]?.code;

test("the words for people tell what was refused, where the fields do not", () => {
  const fields: PartOfReport = [STATUS, `${FAILED}Diagnostic-Code: smtp; 550 no\r\n`];
  const staged = (words: string) => readDsn(report(["text/plain", words], fields))?.[0]?.stage;
  expect(staged("said: 550 no (in reply to end of DATA command)")).toBe("message");
  expect(staged("said: 550 no (in reply to RCPT TO command)")).toBe("recipient");
  expect(staged("said: 550 no")).toBeUndefined();
  const quoted: PartOfReport = ["text/rfc822-headers", "X-A: in reply to RCPT TO"];
  expect(readDsn(report(quoted, fields))?.[0]).not.toHaveProperty("stage");
});

test("what the server said tells it too, unless the words for people say that the message was refused", () => {
  const fields: PartOfReport = [
    STATUS,
    `${FAILED}Diagnostic-Code: smtp; 550 no (in reply to RCPT TO command)\r\n`,
  ];
  const staged = (words: string) => readDsn(report(["text/plain", words], fields))?.[0]?.stage;
  expect(staged("said: 550 no")).toBe("recipient");
  expect(staged("said: 550 no (in reply to end of DATA command)")).toBe("message");
});

test("the original recipient is the one where the report names no other", () => {
  const fields = "Original-Recipient: rfc822; ann@example.net\r\nAction: failed\r\n";
  expect(readDsn(report([STATUS, fields]))).toEqual([{ action: "failed", recipient: "ann@example.net" }]);
});

test("a report without a recipient is none, and one in a later part counts", () => {
  const perMessage = "Reporting-MTA: dns; mx.example.net\r\nStatus: 5.0.0\r\n";
  expect(readDsn(report([STATUS, perMessage]))).toBeUndefined();
  expect(readDsn(report([STATUS, perMessage], [STATUS, FAILED]))).toEqual([
    { action: "failed", recipient: "ann@example.net" },
  ]);
  expect(readDsn(report([STATUS, "Action: failed\r\nStatus: 5.1.1\r\n"]))).toEqual([
    { action: "failed", code: "5.1.1" },
  ]);
  expect(readDsn(report([STATUS, "Final-Recipient: rfc822; ann@example.net\r\nAction: odd\r\n"]))).toBe(
    undefined,
  );
});

test("the fields may come as plain text that says so, and as no other text", () => {
  expect(readDsn(report(["text/plain", FAILED]))).toHaveLength(1);
  for (const [type, text] of [
    ["", FAILED],
    ["text/html", FAILED],
    ["text/plain", "Final-Recipient: rfc822; ann@example.net\r\nStatus: 5.1.1\r\n"],
    ["text/plain", "Action: failed\r\nStatus: 5.1.1\r\n"],
  ] as const)
    expect(readDsn(report([type, text]))).toBeUndefined();
});

test("the more specific code counts, if it does not contradict the status", () => {
  expect(codeOf("Status: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.7.1 no\r\n")).toBe("5.1.1");
  expect(codeOf("Status: 5.0.0\r\nDiagnostic-Code: smtp; 550 5.1.1 no\r\n")).toBe("5.1.1");
  expect(codeOf("Status: 4.0.0\r\nDiagnostic-Code: smtp; 550 5.1.1 no\r\n")).toBe("4.0.0");
  expect(codeOf("Status: 5.0.0\r\nDiagnostic-Code: smtp; 550 no\r\n")).toBe("smtp.550");
  expect(codeOf("Diagnostic-Code: smtp; 450 4.2.2 full\r\n")).toBe("4.2.2");
  expect(codeOf("Diagnostic-Code: smtp; no\r\n")).toBeUndefined();
});

test("what a far server has put off until the relay gave up is judged by the far server's word", () => {
  const putOff = (reply: string) =>
    `Status: 5.0.0\r\nDiagnostic-Code: smtp; ${reply}: retry timeout exceeded\r\n`;
  expect(codeOf(putOff("450 4.1.1 User unknown"))).toBe("4.1.1");
  expect(codeOf(putOff("451 try later"))).toBe("smtp.451");
  const wordless = `Final-Recipient: rfc822; ann@example.net\r\n${putOff("450 4.1.1 User unknown")}`;
  expect(readDsn(report([STATUS, wordless]))?.[0]?.action).toBe("failed");
});

test("a complaint is a part of its own type, with a Feedback-Type", () => {
  const fields = "Feedback-Type: abuse\r\nVersion: 1\r\nOriginal-Rcpt-To: <ann@example.net>\r\n";
  const complaint = { kind: "complaint", word: "abuse" } as const;
  expect(readFeedback(report(["text/plain", fields]))).toBeUndefined();
  const [without, withType] = ["Version: 1\r\n", fields].map(
    (text) => ["message/feedback-report", text] as const,
  );
  expect(readFeedback(report(without!))).toBeUndefined();
  expect(readFeedback(report(without!, withType!))).toEqual(complaint);
});

test("an address is the same in capital letters: as the one whose reason is told, and as the alias, which is not its own target", () => {
  const fields = "Final-Recipient: rfc822; ANN@example.net\r\nAction: failed\r\nStatus: 5.0.0\r\n";
  const failed = (words: string) => readDsn(report(["text/plain", words], [STATUS, fields]))?.[0];
  expect(failed("Ann@Example.net: 550 no such user")).toMatchObject({ text: "550 no such user" });
  expect(failed("    (generated from Ann@example.net)")).toMatchObject({ isForwarded: true });
  expect(aliasesIn("<ANN@example.net>\n    (expanded from: <ann@Example.net>)\n").size).toBe(0);
});
