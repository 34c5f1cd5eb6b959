import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  AT,
  bounced,
  deferred,
  email,
  receipt,
  rejected,
  sent,
  sms,
  unconfirmed,
} from "../../../test/progress-samples.ts";
import { EMAIL_MOVES } from "../email/email-status.ts";
import { applyLateAnswer, applyLateRefusal } from "../receipts/late-answer.ts";
import { SMS_MOVES } from "../sms/sms-status.ts";
import { applyCancel, judgeCancel } from "./cancel.ts";
import { keepEarlyFailure, settleAttempt, settleReceipt } from "./early-failure.ts";
import { applyExpiry } from "./expiry.ts";
import { noteLostSettle } from "./lost-settle.ts";
import type { ChannelName, Progress } from "./message.ts";
import type { PartOutcome } from "./outcome.ts";
import { isOpen } from "./part.ts";
import { applyInterruption, isSettled, type NextStep } from "./progress.ts";
import type { Step } from "./step.ts";

/** The claim of all attempts. */
const CLAIM = 1;

const lateDeferral = { kind: "deferred", error: { code: "4.2.2", message: "mailbox busy" } } as const;
const lateRejection = { kind: "rejected", error: { code: "smpp.0x0b", message: "refused" } } as const;

const claim = (before: Progress): Progress =>
  before.status === "queued" ? { ...before, status: "sending" } : before;

const nothing = (before: Progress): Step => ({ progress: before, entries: [] });

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
    { kind: "done", end: "unconfirmed" },
  );
  const statuses = [
    "sent",
    "delivered",
    "undelivered",
    "expired",
    "failed",
    "bounced",
    "complained",
  ] as const;
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("attempt" as const),
      outcomes: fc.array(outcome, { minLength: 2, maxLength: 2 }),
      next,
    }),
    fc.record({
      kind: fc.constant("lost attempt" as const),
      outcomes: fc.array(outcome, { minLength: 2, maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constant("receipt" as const),
      part: fc.nat(2),
      status: fc.constantFrom(...statuses),
      isUnclear: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("expiry" as const), wasInterrupted: fc.boolean() }),
    fc.constant({ kind: "interruption" as const }),
    fc.constant({ kind: "cancel" as const }),
    fc.record({ kind: fc.constant("late answer" as const), part: fc.nat(2) }),
    fc.record({
      kind: fc.constant("late refusal" as const),
      part: fc.option(fc.nat(1), { nil: undefined }),
      outcome: fc.constantFrom(lateDeferral, lateRejection),
      isLeased: fc.boolean(),
      isHolding: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant("early failure" as const),
      part: fc.nat(1),
      connectorId: fc.constantFrom("c1", "c2"),
      status: fc.constantFrom("failed", "expired", "undelivered"),
      isOwnId: fc.boolean(),
    }),
  );
  type Happening = typeof step extends fc.Arbitrary<infer T> ? T : never;
  type Of<Kind extends Happening["kind"]> = Extract<Happening, { kind: Kind }>;

  const answerLate = (before: Progress, { part }: Of<"late answer">): Step => {
    if (before.channel === "email") return nothing(before);
    const answer = { messageId: "m", connectorId: "c1", part, parts: 2, providerMessageIds: ["late"] };
    return applyLateAnswer(before, answer, AT);
  };

  const refuseLate = (before: Progress, given: Of<"late refusal">): Step => {
    const { part, isLeased, isHolding } = given;
    const outcome = before.channel === "email" ? lateDeferral : given.outcome;
    const about = part === undefined ? {} : { part };
    const refusal = { messageId: "m", connectorId: "c1", claim: CLAIM, outcome, ...about };
    const isHeld = before.status === "sending" && !isLeased;
    const job = { isLeased, isHeld, isHolding, attempt: 1, deadline: AT + 1_000_000 };
    return applyLateRefusal(before, refusal, { at: AT, job }) ?? nothing(before);
  };

  const failEarly = (before: Progress, given: Of<"early failure">): Step => {
    if (before.channel === "email" || before.status === "scheduled" || isSettled(before))
      return nothing(before);
    const { part, status, connectorId, isOwnId } = given;
    const own = isOwnId ? ({ isOwnId } as const) : {};
    return keepEarlyFailure(claim(before), part, {
      receipt: { ...receipt(status), connectorId, ...own },
      size: {},
    });
  };

  const report = (before: Progress, { part, status, isUnclear }: Of<"receipt">): Step => {
    const isOfChannel =
      before.channel === "email" ? /sent|delivered|bounced|failed|complained/ : /^(?!bounced|complained)/;
    if (!isOfChannel.test(status)) return nothing(before);
    const unclear = status === "sent" && isUnclear ? ({ isUnclear } as const) : {};
    return settleReceipt(before, part, { ...receipt(status), ...unclear });
  };

  const run = (before: Progress, happening: Happening): Step => {
    if (happening.kind === "attempt" || happening.kind === "lost attempt") {
      const outcomes = happening.outcomes.map((each) =>
        before.channel === "sms" && each === bounced ? rejected : each,
      );
      if (happening.kind === "attempt")
        return settleAttempt(claim(before), {
          at: AT,
          connectorId: "c1",
          claim: CLAIM,
          outcomes,
          next: happening.next,
        });
      return noteLostSettle(before, { at: AT, connectorId: "c-lost", outcomes, next: { kind: "done" } });
    }
    if (happening.kind === "expiry")
      return applyExpiry(before, { at: AT, wasInterrupted: happening.wasInterrupted });
    if (happening.kind === "interruption") return applyInterruption(before, AT);
    if (happening.kind === "cancel") {
      return judgeCancel(before, false) === "cancel" ? applyCancel(before, AT) : nothing(before);
    }
    if (happening.kind === "late answer") return answerLate(before, happening);
    if (happening.kind === "late refusal") return refuseLate(before, happening);
    if (happening.kind === "early failure") return failEarly(before, happening);
    return report(before, happening);
  };

  for (const channel of ["sms", "email"] satisfies ChannelName[]) {
    const moves: Record<string, readonly string[]> = channel === "sms" ? SMS_MOVES : EMAIL_MOVES;
    const reachable = (from: string, to: string) =>
      from === to || to === "sending" || [from, "sending", "sent"].some((via) => moves[via]?.includes(to));

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

    test(`an ${channel} entry has the status of the recipient it names, and of the message if it names none`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 12 }), (happenings) => {
          let progress: Progress =
            channel === "sms" ? sms({ status: "queued" }) : { ...email("a", "b"), status: "queued" };
          for (const happening of happenings) {
            const { progress: after, entries } = run(progress, happening);
            // An SMS that its receipt proves sent has two, the first of which says so.
            for (const { recipient, status } of channel === "sms" ? entries.slice(-1) : entries) {
              const part = after.parts.find(({ address }) => address !== undefined && address === recipient);
              const wanted = part ? (isOpen(part) ? ["queued", "sending"] : [part.status]) : [after.status];
              expect(wanted).toContain(status);
            }
            progress = after;
          }
        }),
        { numRuns: 1_000 },
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
