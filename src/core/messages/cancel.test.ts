import { expect, test } from "bun:test";
import {
  AT,
  bounced,
  deferred,
  email,
  receipt,
  rejected,
  sent,
  unconfirmed,
} from "../../../test/progress-samples.ts";
import { applyCancel, judgeCancel } from "./cancel.ts";
import type { Part, Progress } from "./message.ts";
import type { PartOutcome } from "./outcome.ts";
import { applyAttempt, applyReceipt } from "./progress.ts";

const sms: Progress = { channel: "sms", status: "queued", parts: [], sequence: 0, position: 0 };
const canceled = { code: "canceled", message: "canceled before it was sent" };

test("a scheduled or queued SMS becomes failed, with a public event", () => {
  for (const status of ["scheduled", "queued"] as const) {
    expect(judgeCancel({ ...sms, status }, false)).toBe("cancel");
    const step = applyCancel({ ...sms, status }, 7);
    expect(step.progress).toEqual({ ...sms, status: "failed", error: canceled, sequence: 1, position: 1 });
    expect(step.entries).toEqual([
      {
        position: 1,
        at: 7,
        kind: "status",
        status: "failed",
        error: canceled,
        sequence: 1,
        eventType: "sms.failed",
      },
    ]);
  }
});

test("an email's recipients still to be tried are told of one by one, and those refused before stay as they are", () => {
  const bounced: Part = {
    status: "bounced",
    address: "b@x.test",
    error: { code: "smtp.550", message: "no" },
  };
  const parts: readonly Part[] = [{ status: "pending", address: "a@x.test" }, bounced];
  const before: Progress = { ...sms, channel: "email", parts };
  expect(judgeCancel(before, false)).toBe("cancel");
  const { progress, entries } = applyCancel(before, 7);
  expect(progress).toMatchObject({ status: "failed", error: canceled });
  expect(progress.parts[1]).toEqual(bounced);
  const told = entries.flatMap(({ eventType, recipient }) => (eventType ? [[eventType, recipient]] : []));
  expect(told).toEqual([["email.failed", "a@x.test"]]);
});

test("what may have left in part, or is being tried, is past calling back", () => {
  for (const status of ["sent", "unconfirmed", "delivered", "undelivered", "expired", "failed"] as const) {
    expect(judgeCancel({ ...sms, parts: [{ status: "pending" }, { status }] }, false)).toBe("too_late");
  }
  expect(judgeCancel(sms, true)).toBe("too_late");
  for (const status of ["sending", "sent", "delivered", "expired", "undelivered", "failed"] as const) {
    expect(judgeCancel({ ...sms, status }, false)).toBe("too_late");
  }
});

test("an email that one recipient has bounced is past calling back if it had left, or may have", () => {
  const before = email("a@x.test", "b@x.test");
  const again = { kind: "again", dueAt: AT } as const;
  const after = (progress: Progress, ...outcomes: PartOutcome[]) =>
    applyAttempt(progress, { at: AT, connectorId: "c", outcomes, next: again }).progress;
  expect(judgeCancel(after(before, bounced, deferred), false)).toBe("cancel");
  const doubtful = after(before, unconfirmed, deferred);
  for (const refusal of [bounced, rejected])
    expect(judgeCancel(after(doubtful, refusal, deferred), false)).toBe("too_late");
  const taken = after(before, sent("p"), deferred);
  expect(judgeCancel(applyReceipt(taken, 0, receipt("bounced")).progress, false)).toBe("too_late");
});

test("canceling again changes nothing", () => {
  expect(judgeCancel(applyCancel(sms, 7).progress, false)).toBe("canceled");
});
