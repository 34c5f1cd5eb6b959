import { describe, expect, test } from "bun:test";
import {
  AT,
  attempt,
  bounced,
  deferred,
  email,
  events,
  receipt,
  rejected,
  sent,
  sms,
  unconfirmed,
} from "../../../test/progress-samples.ts";
import { judgeCancel } from "./cancel.ts";
import { applyExpiry } from "./expiry.ts";
import { noteLostSettle } from "./lost-settle.ts";
import type { PartOutcome } from "./outcome.ts";
import { applyAttempt, applyInterruption, applyReceipt } from "./progress.ts";

describe("an SMS", () => {
  test("is sent when every segment was taken, and delivered when every receipt says so", () => {
    const step = attempt(sms(), [sent("a"), sent("b")]);
    expect(step.progress.status).toBe("sent");
    expect(events(step)).toEqual(["sms.sent"]);
    const first = applyReceipt(step.progress, 0, receipt("delivered"));
    expect(first.progress.status).toBe("sent");
    const second = applyReceipt(first.progress, 1, receipt("delivered"));
    expect(second.progress.status).toBe("delivered");
    expect(events(second)).toEqual(["sms.delivered"]);
    expect(second.entries[0]?.sequence).toBe(2);
  });

  test("ends as the worst of its segments", () => {
    const both = attempt(sms(), [sent("a"), sent("b")]).progress;
    const one = applyReceipt(both, 0, receipt("undelivered", { code: "27", message: "absent" })).progress;
    expect(one.status).toBe("sent");
    const two = applyReceipt(one, 1, receipt("delivered")).progress;
    expect(two).toMatchObject({ status: "undelivered" });
    expect(applyReceipt(one, 1, receipt("expired")).progress.status).toBe("undelivered");
    const late = applyReceipt(both, 0, receipt("expired")).progress;
    expect(applyReceipt(late, 1, receipt("delivered")).progress.status).toBe("expired");
  });

  test("fails as soon as one segment was refused for good", () => {
    const step = attempt(sms(), [sent("a"), rejected]);
    expect(step.progress).toMatchObject({ status: "failed", error: { code: "smpp.0x0000000b" } });
  });

  test("keeps its status on the timeline when a receipt leaves open what became of one segment", () => {
    const failed = attempt(sms(), [sent("a"), rejected]).progress;
    const { entries } = applyReceipt(failed, 0, { ...receipt("sent"), isUnclear: true });
    expect(entries).toMatchObject([{ kind: "receipt", status: "failed" }]);
  });

  test("that is tried again keeps the segments that were taken", () => {
    const step = attempt(sms(), [sent("a"), deferred], { kind: "again", dueAt: AT + 5_000 });
    expect(step.progress.status).toBe("queued");
    expect(step.progress.parts.map((part) => part.status)).toEqual(["sent", "pending"]);
    expect(events(step)).toEqual([]);
    const again = attempt({ ...step.progress, status: "sending" }, [undefined, sent("b")]);
    expect(again.progress.parts.map((part) => part.providerMessageId)).toEqual(["a", "b"]);
    expect(again.progress.status).toBe("sent");
  });

  test("tries that are repeats move it, and leave no entry", () => {
    const again = { kind: "again", dueAt: AT + 5_000 } as const;
    const first = attempt(sms(), [deferred], again);
    const repeat = attempt({ ...first.progress, status: "sending" }, [deferred], {
      ...again,
      isRepeat: true,
    });
    expect([first.entries.length, repeat.entries.length]).toEqual([1, 0]);
    expect(repeat.progress).toMatchObject({ status: "queued", position: first.progress.position });
  });

  test("that may have left with one try may have left still when another is put off", () => {
    const again = { kind: "again", dueAt: AT + 5_000 } as const;
    const lost = attempt(sms(), [unconfirmed], again).progress;
    const putOff = attempt({ ...lost, status: "sending" }, [deferred], again).progress;
    expect(putOff.parts).toMatchObject([{ status: "unconfirmed", connectorId: "c1" }]);
    expect(judgeCancel(putOff, false)).toBe("too_late");
    const over = applyExpiry(putOff, { at: AT, wasInterrupted: false }).progress;
    expect(over).toMatchObject({ status: "failed", error: { code: "unconfirmed" } });
    expect(attempt({ ...putOff, status: "sending" }, [sent("a")]).progress.status).toBe("sent");
  });

  test("that a gateway may have has left in all the segments that another connector makes of it", () => {
    const again = { kind: "again", dueAt: AT + 5_000 } as const;
    const lost = attempt(sms(), [unconfirmed], again).progress;
    const inPart = attempt({ ...lost, status: "sending" }, [sent("a"), undefined], again).progress;
    expect(inPart.parts.map((part) => part.status)).toEqual(["sent", "unconfirmed"]);
    const over = applyExpiry(inPart, { at: AT, wasInterrupted: false }).progress;
    expect(over).toMatchObject({ status: "failed", error: { code: "unconfirmed" } });
    const putOff = attempt(sms(), [deferred], again).progress;
    const counted = attempt({ ...putOff, status: "sending" }, [sent("a"), undefined], again).progress;
    expect(counted.parts.map((part) => part.status)).toEqual(["sent", "pending"]);
  });

  test("of which a segment was not sent within its window is expired, whatever became of the others", () => {
    const again = { kind: "again", dueAt: AT + 5_000 } as const;
    const inPart = attempt(sms(), [sent("a"), deferred], again).progress;
    const over = applyExpiry(inPart, { at: AT, wasInterrupted: false });
    expect(over.progress).toMatchObject({ status: "expired", error: { code: "expired" } });
    expect(events(over)).toEqual(["sms.expired"]);
    const late = applyReceipt(over.progress, 0, receipt("delivered"));
    expect(late.progress.status).toBe("expired");
    expect(events(late)).toEqual([]);
  });

  test("has failed with its first segment that has, though others are open, and good news of another changes nothing", () => {
    const open = attempt(sms(), [sent("a"), unconfirmed, deferred], { kind: "held", dueAt: AT + 5_000 });
    const error = { code: "receipt.rejectd", message: "rejected" };
    const failed = applyReceipt(open.progress, 0, receipt("failed", error));
    expect(failed.progress).toMatchObject({ status: "failed", error });
    const detail = { reason: "segment 1 was rejected; not sent: 1 of 3" };
    expect(failed.entries).toMatchObject([{ kind: "receipt", eventType: "sms.failed", error, detail }]);
    const later = applyReceipt(failed.progress, 1, receipt("delivered"));
    expect(later.progress).toMatchObject({ status: "failed", error });
    expect(events(later)).toEqual([]);
  });

  test("says in its history that it may have left, also where another segment was put off or refused", () => {
    const again = { kind: "again", dueAt: AT + 5_000 } as const;
    const { entries, progress } = attempt(sms(), [deferred, rejected, unconfirmed], again);
    expect(entries[0]?.error?.code).toBe("unconfirmed");
    const last = attempt({ ...progress, status: "sending" }, [sent("a"), undefined, sent("b")]);
    expect(last.entries[0]).toMatchObject({ status: "failed", error: { code: "smpp.0x0000000b" } });
  });

  test("keeps its final state; a late receipt becomes an entry", () => {
    const done = applyReceipt(attempt(sms(), [sent("a")]).progress, 0, receipt("delivered")).progress;
    const late = applyReceipt(done, 0, receipt("undelivered"));
    expect(late.isLate).toBe(true);
    expect(late.progress.status).toBe("delivered");
    expect(late.entries.map((entry) => entry.kind)).toEqual(["late_receipt"]);
  });

  test("leaves no more than 200 entries, however often a provider repeats itself", () => {
    let progress = applyReceipt(attempt(sms(), [sent("a")]).progress, 0, receipt("delivered")).progress;
    for (let i = 0; i < 1_000; i++) progress = applyReceipt(progress, 0, receipt("undelivered")).progress;
    expect(progress.position).toBe(200);
  });

  test("expires when its window is over before any attempt", () => {
    const step = applyExpiry(sms({ status: "queued" }), { at: AT, wasInterrupted: false });
    expect(step.progress).toMatchObject({ status: "expired", error: { code: "expired" } });
    expect(events(step)).toEqual(["sms.expired"]);
  });

  test("fails as unconfirmed when its window is over after an attempt that nothing was heard of", () => {
    const step = applyExpiry(sms({ status: "queued", parts: [] }), { at: AT, wasInterrupted: true });
    expect(step.progress).toMatchObject({ status: "failed", error: { code: "unconfirmed" } });
    expect(events(step)).toEqual(["sms.failed"]);
  });

  test("that was never confirmed is sent, then delivered, when its receipt comes", () => {
    const held = attempt(sms(), [unconfirmed], { kind: "held", dueAt: AT + 1 }).progress;
    const step = applyReceipt(held, 0, receipt("delivered"));
    expect(events(step)).toEqual(["sms.sent", "sms.delivered"]);
  });

  test("that is held stays sending, and fails as unconfirmed at the end of its window", () => {
    const held = attempt(sms(), [unconfirmed], { kind: "held", dueAt: AT + 1 }).progress;
    expect(held.status).toBe("sending");
    expect(applyExpiry(held, { at: AT, wasInterrupted: false }).progress).toMatchObject({
      status: "failed",
      error: { code: "unconfirmed" },
    });
  });

  test("whose lease ran out is back in line, and its history says so", () => {
    const step = applyInterruption(sms(), AT);
    expect(step.progress.status).toBe("queued");
    expect(step.entries.map((entry) => entry.kind)).toEqual(["interrupted"]);
  });

  test("that a receipt settled while its lease ran out stays as it is, and its history says so", () => {
    const sent = applyReceipt(attempt(sms(), [unconfirmed]).progress, 0, receipt("delivered")).progress;
    const step = applyInterruption(sent, AT);
    expect(step.progress.status).toBe("delivered");
    expect(step.entries.map(({ kind, status }) => `${kind}:${status}`)).toEqual(["interrupted:delivered"]);
    expect(events(step)).toEqual([]);
  });

  test("that a lost lease sent is delivered when its receipt comes, whatever its next attempt says", () => {
    const lost = noteLostSettle(sms(), {
      at: AT,
      connectorId: "c1",
      outcomes: [sent("a")],
      next: { kind: "done" },
    });
    expect(events(lost)).toEqual(["sms.sent"]);
    const delivered = applyReceipt(lost.progress, 0, receipt("delivered"));
    expect(events(delivered)).toEqual(["sms.delivered"]);
    const again = attempt(delivered.progress, [deferred], { kind: "again", dueAt: AT + 1 });
    expect(again.progress.status).toBe("delivered");
  });

  test("keeps on its history what a lost lease brought home", () => {
    const step = noteLostSettle(sms(), {
      at: AT,
      connectorId: "c1",
      outcomes: [sent("a"), deferred],
      next: { kind: "done" },
    });
    expect(step.progress.status).toBe("sending");
    expect(step.progress.parts.map(({ status }) => status)).toEqual(["sent", "pending"]);
    expect(step.entries[0]).toMatchObject({
      kind: "lost_settle",
      detail: { connector: "c1", provider_message_ids: ["a"] },
    });
  });
});

test.each([
  ["an SMS", sms(), [deferred, rejected, unconfirmed], "unconfirmed"],
  ["an SMS", sms(), [deferred, rejected, sent("a")], "smpp.0x0000000b"],
  ["an SMS", sms(), [sent("a"), deferred], "4.2.2"],
  ["an email", email("a", "b", "c"), [deferred, rejected, unconfirmed], "unconfirmed"],
  ["an email", email("a", "b", "c"), [rejected, deferred, sent("a")], "4.2.2"],
  ["an email", email("a", "b"), [sent("a"), rejected], "smpp.0x0000000b"],
] as const)("%s shows the error of its attempt that matters most", (_, before, outcomes, code) => {
  const { entries } = attempt(before, outcomes, { kind: "again", dueAt: AT });
  expect(entries.find(({ kind }) => kind === "attempt")?.error?.code).toBe(code);
});

describe("an email", () => {
  test("folds its recipients: bounced before sent before delivered before failed", () => {
    const deliveredNow: PartOutcome = { kind: "sent", providerMessageIds: [], delivered: true };
    expect(attempt(email("a", "b"), [sent("1"), bounced]).progress.status).toBe("bounced");
    expect(attempt(email("a", "b"), [sent("1"), rejected]).progress.status).toBe("sent");
    expect(attempt(email("a", "b"), [deliveredNow, rejected]).progress.status).toBe("delivered");
    expect(attempt(email("a"), [rejected]).progress.status).toBe("failed");
  });

  test("is queued while any recipient is still to be tried", () => {
    const step = attempt(email("a", "b"), [bounced, deferred], { kind: "again", dueAt: AT });
    expect(step.progress.status).toBe("queued");
    expect(step.entries.flatMap((entry) => entry.recipient ?? [])).toEqual(["a"]);
  });

  test("names the recipient in each public event, with that recipient's status", () => {
    const step = attempt(email("a", "b"), [sent("1"), bounced]);
    const named = step.entries.filter((entry) => entry.eventType);
    expect(named.map((entry) => [entry.recipient, entry.status, entry.eventType, entry.sequence])).toEqual([
      ["a", "sent", "email.sent", 1],
      ["b", "bounced", "email.bounced", 2],
    ]);
  });

  test("may still bounce after it was delivered", () => {
    const delivered = applyReceipt(
      attempt(email("a"), [sent("1")]).progress,
      0,
      receipt("delivered"),
    ).progress;
    expect(delivered.status).toBe("delivered");
    expect(applyReceipt(delivered, 0, receipt("bounced")).progress.status).toBe("bounced");
  });

  test("undeliverable in its window is bounced if the recipient's server said so, failed otherwise", () => {
    const waiting = attempt(email("a"), [deferred], { kind: "again", dueAt: AT }).progress;
    expect(applyExpiry(waiting, { at: AT, wasInterrupted: false }).progress.status).toBe("bounced");
    const noRoute: PartOutcome = {
      kind: "deferred",
      error: { code: "connect", message: "connection refused" },
    };
    const unreached = attempt(email("a"), [noRoute], { kind: "again", dueAt: AT }).progress;
    expect(applyExpiry(unreached, { at: AT, wasInterrupted: false }).progress.status).toBe("failed");
    // A server that wants a password first says nothing of the recipient.
    const shut = { kind: "deferred", error: { code: "smtp.530", message: "log in first" } } as const;
    const notAsked = attempt(email("a@x.test"), [shut], { kind: "again", dueAt: AT }).progress;
    expect(applyExpiry(notAsked, { at: AT, wasInterrupted: false }).progress.status).toBe("failed");
  });

  test("with several jobs settles only when the last one is done", () => {
    const first = applyAttempt(email("a", "b"), {
      at: AT,
      connectorId: "c1",
      outcomes: [sent("1")],
      next: { kind: "done" },
      only: [0],
    });
    expect(first.progress.status).toBe("sending");
    const second = attempt(first.progress, [undefined, sent("2")]);
    expect(second.progress.status).toBe("sent");
  });
});
