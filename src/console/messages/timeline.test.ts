import { expect, test } from "bun:test";
import type { Message } from "./message.ts";
import { type Entry, entryDetails, entryText, recipientStates, toLines, withAcceptance } from "./timeline.ts";

const nameOf = (connector: string) => (connector === "c1" ? "primary" : connector);
const at = "2026-11-28T10:00:00.000Z";

test("an entry is a sentence that names the connector and the recipient", () => {
  const attempt: Entry = { at, kind: "attempt", status: "sent", detail: { connector: "c1" } };
  const receipt: Entry = { at, kind: "receipt", detail: { connector: "c2", receipt_status: "delivered" } };
  const status: Entry = { at, kind: "status", recipient: "b@example.org" };
  expect([attempt, receipt, status].map((entry) => entryText(entry, nameOf))).toEqual([
    "Attempt over primary",
    "Receipt “delivered” from c2",
    "New status for b@example.org",
  ]);
});

test("a kind that a later version adds is shown by its name", () => {
  expect(entryText({ at, kind: "was_moved" }, nameOf)).toBe("was moved");
});

test("details leave out what the sentence says", () => {
  const detail = { connector: "c1", receipt_status: "sent", provider_message_ids: ["a", "b"], segments: 2 };
  expect(entryDetails({ at, kind: "attempt", detail })).toEqual([
    ["provider message ids", "a, b"],
    ["segments", "2"],
  ]);
});

test("the acceptance comes first, where the service tells when it was", () => {
  expect(withAcceptance({ created_at: at, data: [] })).toEqual([{ at, kind: "accepted" }]);
  expect(withAcceptance({ data: [] })).toEqual([]);
});

test("each recipient has the status that the timeline names last, and its error", () => {
  const message: Message = {
    message_id: "m",
    account_id: "a",
    channel: "email",
    to: [{ email: "B@example.org" }],
    bcc: [{ email: "c@example.org" }],
    status: "sent",
    created_at: at,
  };
  const error = { code: "5.1.1", message: "no such mailbox" };
  const another = { code: "5.0.0", message: "once more" };
  const entries: Entry[] = [
    { at, kind: "status", status: "sent", recipient: "b@example.org" },
    { at, kind: "status", status: "bounced", recipient: "b@example.org", error },
    { at, kind: "late_receipt", status: "bounced", recipient: "b@example.org", error: another },
  ];
  expect(recipientStates(message, entries)).toEqual([
    { address: "B@example.org", role: "to", status: "bounced", error },
    { address: "c@example.org", role: "bcc" },
  ]);
});

test("a line tells a status where it is new, and an error of a recipient only at that recipient", () => {
  const error = { code: "5.1.1", message: "no such mailbox" };
  const entries: Entry[] = [
    { at, kind: "attempt", status: "sent" },
    { at, kind: "receipt", status: "sent" },
    { at, kind: "status", status: "bounced", recipient: "b@example.org", error },
    { at, kind: "receipt", status: "bounced", error },
    { at, kind: "status", status: "delivered", recipient: "c@example.org" },
  ];
  const lines = toLines(entries).map(({ status, error: told }) => [status, told?.code]);
  expect(lines).toEqual([
    ["sent", undefined],
    [undefined, undefined],
    ["bounced", "5.1.1"],
    ["bounced", undefined],
    ["delivered", undefined],
  ]);
});

test("a recipient's receipt and its event are one line, and each attempt tells its error", () => {
  const recipient = "b@example.org";
  const busy = { code: "4.2.2", message: "mailbox busy" };
  const full = { code: "5.2.2", message: "mailbox full" };
  const entries: Entry[] = [
    { at, kind: "attempt", status: "queued", recipient, error: busy },
    { at, kind: "attempt", status: "queued", recipient, error: busy },
    { at, kind: "attempt", status: "queued", error: busy },
    { at, kind: "receipt", status: "bounced", recipient, error: full },
    { at, kind: "status", status: "bounced", recipient, error: full },
    { at, kind: "late_receipt", status: "bounced", recipient, detail: { receipt_status: "delivered" } },
  ];
  const lines = toLines(entries).map(({ entry, status, error }) => [entry.kind, status, error?.code]);
  expect(lines).toEqual([
    ["attempt", "queued", "4.2.2"],
    ["attempt", undefined, "4.2.2"],
    ["attempt", "queued", "4.2.2"],
    ["receipt", "bounced", "5.2.2"],
    ["late_receipt", undefined, undefined],
  ]);
});

test("an attempt that is repeated says so", () => {
  const attempt: Entry = { at, kind: "attempt", status: "queued", error: { code: "4.2.2", message: "busy" } };
  expect(entryText(attempt, nameOf)).toBe("Attempt did not succeed: to be tried again");
  expect(entryText({ ...attempt, detail: { sent: 2, deferred: 1 } }, nameOf)).toBe(
    "Attempt did not succeed for all: to be tried again",
  );
});

test("of an attempt that succeeded for its recipients only others are to be tried again", () => {
  expect(entryText({ at, kind: "attempt", status: "queued" }, nameOf)).toBe("Attempt");
});
