/** What entries of an email say that are about one of several recipients: their own status and error, not the message's. */
import { expect, test } from "bun:test";
import {
  AT,
  attempt,
  bounced,
  deferred,
  email,
  receipt,
  rejected,
  sent,
  sms,
  unconfirmed,
} from "../../../test/progress-samples.ts";
import { applyExpiry } from "./expiry.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import { applyAttempt, applyReceipt, type NextStep } from "./progress.ts";
import type { Step } from "./step.ts";

const AGAIN = { kind: "again", dueAt: AT } as const;

const told = ({ entries }: Step) =>
  entries
    .filter(({ eventType }) => eventType === undefined)
    .map(({ kind, recipient, status, error }) => [kind, recipient, status, error?.code]);

/** The job of one recipient of several. */
const attemptFor = (
  before: Parameters<typeof applyAttempt>[0],
  index: number,
  { outcome, next }: { outcome: PartOutcome; next?: NextStep },
) =>
  applyAttempt(before, {
    at: AT,
    connectorId: "c1",
    outcomes: before.parts.map((_, part) => (part === index ? outcome : undefined)),
    next: next ?? { kind: "done" },
    only: [index],
  });

test("a receipt is told with its recipient, that recipient's status, and its own error alone", () => {
  const taken = attempt(email("a", "b"), [sent("1"), bounced]).progress;
  expect(taken).toMatchObject({ status: "bounced", error: { code: "5.1.1" } });
  const delivered = applyReceipt(taken, 0, receipt("delivered"));
  expect(told(delivered)).toEqual([["receipt", "a", "delivered", undefined]]);
  expect(delivered.progress).toMatchObject({ status: "bounced", error: { code: "5.1.1" } });
  const over = { code: "5.2.2", message: "mailbox full" };
  const back = applyReceipt(delivered.progress, 0, receipt("bounced", over));
  expect(told(back)).toEqual([["receipt", "a", "bounced", "5.2.2"]]);
});

test("a complaint is told with its recipient: with that recipient's status, or the message's while it is still to be tried", () => {
  const taken = attempt(email("a", "b"), [sent("1"), unconfirmed], { kind: "held", dueAt: AT }).progress;
  expect(told(applyReceipt(taken, 0, receipt("complained")))).toEqual([["receipt", "a", "sent", undefined]]);
  expect(told(applyReceipt(taken, 1, receipt("complained")))).toEqual([
    ["receipt", "b", "sending", undefined],
  ]);
});

test("a late receipt is told with the recipient whose status it does not change", () => {
  const taken = attempt(email("a", "b"), [sent("1"), bounced]).progress;
  const delivered = applyReceipt(taken, 0, receipt("delivered")).progress;
  expect(told(applyReceipt(delivered, 0, receipt("delivered")))).toEqual([
    ["late_receipt", "a", "delivered", undefined],
  ]);
  expect(told(applyReceipt(delivered, 1, receipt("delivered")))).toEqual([
    ["late_receipt", "b", "bounced", undefined],
  ]);
});

test.each<[PartOutcome, NextStep, string, string | undefined]>([
  [sent("2"), { kind: "done" }, "sent", undefined],
  [bounced, { kind: "done" }, "bounced", "5.1.1"],
  [rejected, { kind: "done" }, "failed", "smpp.0x0000000b"],
  [deferred, AGAIN, "queued", "4.2.2"],
  [unconfirmed, AGAIN, "queued", "unconfirmed"],
  [unconfirmed, { kind: "held", dueAt: AT }, "sending", "unconfirmed"],
])("an attempt for one recipient (%j, %j) is told as theirs: %s, %s", (outcome, next, status, error) => {
  for (const other of [sent("1"), bounced, deferred]) {
    const before = attemptFor(email("a", "b"), 0, { outcome: other, next: AGAIN }).progress;
    const step = attemptFor({ ...before, status: "sending" }, 1, { outcome, next });
    expect(told(step)).toEqual([["attempt", "b", status, error]]);
  }
});

test("an attempt for several is told as the message's, with how many came to what", () => {
  const before = attemptFor(email("a", "b", "c", "d"), 0, { outcome: bounced }).progress;
  const step = attempt(before, [undefined, sent("1"), deferred, sent("2")], AGAIN);
  expect(told(step)).toEqual([["attempt", undefined, "queued", "4.2.2"]]);
  expect(step.entries[0]?.detail).toEqual({ connector: "c1", sent: 2, deferred: 1 });
});

test("an attempt that succeeds for all has no error, whoever has bounced before", () => {
  const before = attemptFor(email("a", "b", "c"), 0, { outcome: bounced }).progress;
  const step = attempt(before, [undefined, sent("1"), sent("2")]);
  expect(told(step)).toEqual([["attempt", undefined, "bounced", undefined]]);
  expect(step.progress).toMatchObject({ status: "bounced", error: { code: "5.1.1" } });
});

test("the end of a window is told with the error of those whom it ended", () => {
  const before = attemptFor(email("a", "b"), 0, { outcome: bounced }).progress;
  const step = applyExpiry(before, { at: AT, parts: [1], wasInterrupted: false });
  expect(told(step)).toEqual([["status", undefined, "bounced", "expired"]]);
  expect(step.progress.error?.code).toBe("5.1.1");
});

test("an attempt at an SMS that succeeds does not repeat why the message had failed", () => {
  const failed = { code: "receipt.rejectd", message: "rejected" };
  const split = attempt(sms(), [sent("a"), deferred], AGAIN).progress;
  const over = applyReceipt(split, 0, receipt("failed", failed)).progress;
  expect(over).toMatchObject({ status: "failed", error: failed });
  const late = attempt(over, [undefined, sent("b")]);
  expect(told(late)).toEqual([["attempt", undefined, "failed", undefined]]);
  expect(late.progress.error).toEqual(failed);
});

test("an event of an SMS has the message's error, also where a receipt gives none", () => {
  const both = attempt(sms(), [sent("a"), sent("b")]).progress;
  const absent = { code: "27", message: "absent" };
  const status: Receipt["status"] = "undelivered";
  const one = applyReceipt(both, 0, receipt(status, absent)).progress;
  const two = applyReceipt(one, 1, receipt("delivered"));
  expect(two.entries).toMatchObject([{ eventType: "sms.undelivered", error: absent }]);
  const never = attempt(sms(), [], { kind: "done", end: "window_over" });
  expect(never.entries).toMatchObject([{ eventType: "sms.expired", error: { code: "expired" } }]);
});
