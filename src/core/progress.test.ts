import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EMAIL_MOVES } from "./email-status.ts";
import type { ChannelName, MessageError, Part, Progress } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import {
  applyAttempt,
  applyExpiry,
  applyInterruption,
  applyReceipt,
  isSettled,
  type NextStep,
  noteLostSettle,
  type Step,
} from "./progress.ts";
import { SMS_MOVES } from "./sms-status.ts";

const AT = 1_700_000_000_000;
const busy: MessageError = { code: "4.2.2", message: "mailbox busy" };
const sent = (id: string): PartOutcome => ({ kind: "sent", providerMessageIds: [id] });
const deferred: PartOutcome = { kind: "deferred", error: busy };
const rejected: PartOutcome = {
  kind: "rejected",
  error: { code: "smpp.0x0000000b", message: "invalid destination" },
};
const bounced: PartOutcome = {
  kind: "rejected",
  bounced: true,
  error: { code: "5.1.1", message: "no such user" },
};
const unconfirmed: PartOutcome = {
  kind: "unconfirmed",
  error: { code: "unconfirmed", message: "no answer" },
};

const sms = (change: Partial<Progress> = {}): Progress => ({
  channel: "sms",
  status: "sending",
  parts: [],
  sequence: 0,
  position: 0,
  ...change,
});

const email = (...addresses: string[]): Progress => ({
  channel: "email",
  status: "sending",
  parts: addresses.map((address): Part => ({ status: "pending", address })),
  sequence: 0,
  position: 0,
});

const attempt = (
  before: Progress,
  outcomes: readonly (PartOutcome | undefined)[],
  next: NextStep = { kind: "done" },
) => applyAttempt(before, { at: AT, connectorId: "c1", outcomes, next });

const receipt = (status: Receipt["status"], error?: MessageError): Receipt => ({
  connectorId: "c1",
  providerMessageId: "x",
  status,
  receivedAt: AT + 1_000,
  ...(error && { error }),
});

const events = (step: Step) => step.entries.flatMap((entry) => (entry.eventType ? [entry.eventType] : []));

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
  });

  test("fails as soon as one segment was refused for good", () => {
    const step = attempt(sms(), [sent("a"), rejected]);
    expect(step.progress).toMatchObject({ status: "failed", error: { code: "smpp.0x0000000b" } });
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
    const step = applyExpiry(sms({ status: "queued" }), AT);
    expect(step.progress).toMatchObject({ status: "expired", error: { code: "expired" } });
    expect(events(step)).toEqual(["sms.expired"]);
  });

  test("that was never confirmed is sent, then delivered, when its receipt comes", () => {
    const held = attempt(sms(), [unconfirmed], { kind: "held", dueAt: AT + 1 }).progress;
    const step = applyReceipt(held, 0, receipt("delivered"));
    expect(events(step)).toEqual(["sms.sent", "sms.delivered"]);
  });

  test("that is held stays sending, and fails as unconfirmed at the end of its window", () => {
    const held = attempt(sms(), [unconfirmed], { kind: "held", dueAt: AT + 1 }).progress;
    expect(held.status).toBe("sending");
    expect(applyExpiry(held, AT).progress).toMatchObject({
      status: "failed",
      error: { code: "unconfirmed" },
    });
  });

  test("whose lease ran out is back in line, and its history says so", () => {
    const step = applyInterruption(sms(), AT);
    expect(step.progress.status).toBe("queued");
    expect(step.entries.map((entry) => entry.kind)).toEqual(["interrupted"]);
  });

  test("keeps on its history what a lost lease brought home", () => {
    const step = noteLostSettle(sms(), {
      at: AT,
      connectorId: "c1",
      outcomes: [sent("a")],
      next: { kind: "done" },
    });
    expect(step.progress.status).toBe("sending");
    expect(step.entries[0]).toMatchObject({ kind: "lost_settle", detail: { provider_message_ids: ["a"] } });
  });
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
    expect(applyExpiry(waiting, AT).progress.status).toBe("bounced");
    const noRoute: PartOutcome = {
      kind: "deferred",
      error: { code: "connect", message: "connection refused" },
    };
    const unreached = attempt(email("a"), [noRoute], { kind: "again", dueAt: AT }).progress;
    expect(applyExpiry(unreached, AT).progress.status).toBe("failed");
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

describe("whatever happens to a message", () => {
  const outcome = fc.constantFrom<PartOutcome | undefined>(
    sent("p"),
    deferred,
    rejected,
    bounced,
    unconfirmed,
    undefined,
  );
  const next = fc.constantFrom<NextStep>(
    { kind: "again", dueAt: AT },
    { kind: "held", dueAt: AT },
    { kind: "done" },
    { kind: "done", end: "window_over" },
    { kind: "done", end: "attempts_spent" },
  );
  const statuses = ["sent", "delivered", "undelivered", "expired", "failed", "bounced"] as const;
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("attempt" as const),
      outcomes: fc.array(outcome, { minLength: 2, maxLength: 2 }),
      next,
    }),
    fc.record({
      kind: fc.constant("receipt" as const),
      part: fc.nat(2),
      status: fc.constantFrom(...statuses),
    }),
    fc.constant({ kind: "expiry" as const }),
    fc.constant({ kind: "interruption" as const }),
  );

  const run = (before: Progress, happening: typeof step extends fc.Arbitrary<infer T> ? T : never): Step => {
    const claimed: Progress = before.status === "queued" ? { ...before, status: "sending" } : before;
    if (happening.kind === "attempt") {
      const outcomes = happening.outcomes.map((each) =>
        before.channel === "sms" && each === bounced ? rejected : each,
      );
      return attempt(claimed, outcomes, happening.next);
    }
    if (happening.kind === "expiry") return applyExpiry(before, AT);
    if (happening.kind === "interruption") return applyInterruption(before, AT);
    const isOfChannel = before.channel === "email" ? /sent|delivered|bounced|failed/ : /^(?!bounced)/;
    if (!isOfChannel.test(happening.status)) return { progress: before, entries: [] };
    return applyReceipt(before, happening.part, receipt(happening.status));
  };

  for (const channel of ["sms", "email"] satisfies ChannelName[]) {
    const moves: Record<string, readonly string[]> = channel === "sms" ? SMS_MOVES : EMAIL_MOVES;
    const reachable = (from: string, to: string) =>
      from === to || moves[from]?.includes(to) || moves.sending?.includes(to) === true || to === "sending";

    test(`its status moves only as the table of ${channel} says, and a final state holds`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 12 }), (happenings) => {
          let progress: Progress =
            channel === "sms" ? sms({ status: "queued" }) : { ...email("a", "b"), status: "queued" };
          for (const happening of happenings) {
            const after = run(progress, happening).progress;
            const isFinal = moves[progress.status]?.length === 0;
            if (isFinal) expect(after.status).toBe(progress.status);
            else if (isSettled(progress))
              expect([progress.status, ...(moves[progress.status] ?? [])]).toContain(after.status);
            else expect(reachable(progress.status, after.status)).toBe(true);
            progress = after;
          }
        }),
        { numRuns: 2_000 },
      );
    });

    test(`every ${channel} event has the next sequence, every entry the next position`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 12 }), (happenings) => {
          let progress: Progress =
            channel === "sms" ? sms({ status: "queued" }) : { ...email("a", "b"), status: "queued" };
          for (const happening of happenings) {
            const { progress: after, entries } = run(progress, happening);
            expect(entries.map((entry) => entry.position)).toEqual(
              entries.map((_, i) => progress.position + 1 + i),
            );
            const numbered = entries.filter((entry) => entry.sequence !== undefined);
            expect(numbered.map((entry) => entry.sequence)).toEqual(
              numbered.map((_, i) => progress.sequence + 1 + i),
            );
            expect(after.position).toBe(progress.position + entries.length);
            expect(after.sequence).toBe(progress.sequence + numbered.length);
            progress = after;
          }
        }),
        { numRuns: 1_000 },
      );
    });
  }
});
