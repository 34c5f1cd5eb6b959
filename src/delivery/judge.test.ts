import { expect, test } from "bun:test";
import { claimedJob } from "../../test/claimed-job.ts";
import { AT, deferred, email, rejected, sent, sms, unconfirmed } from "../../test/progress-samples.ts";
import { applyExpiry } from "../core/messages/expiry.ts";
import type { Part, Progress } from "../core/messages/message.ts";
import type { PartOutcome } from "../core/messages/outcome.ts";
import { applyAttempt } from "../core/messages/progress.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import {
  judge,
  judgeExpired,
  judgeFailover,
  judgeHeld,
  judgeOutOfHours,
  judgeUnprepared,
  judgeWaiting,
} from "./judge.ts";
import { ownerOf } from "./outlets/owner-of-job.ts";

function job(change: Partial<ClaimedJob> = {}): ClaimedJob {
  return claimedJob({
    claim: 2,
    wasInterrupted: true,
    interruptions: 1,
    recipient: "+14155550100",
    progress: sms(),
    content: { channel: "sms" },
    createdAt: AT,
    expiresAt: AT + 3_600_000,
    ...change,
  });
}

const verdict = { now: AT, connectorId: "c1", jitter: 0 };

/** What the message comes to when nothing more is heard until its window ends. */
function endOf({ progress }: ClaimedJob, settlement: Settlement): Progress {
  const after = applyAttempt(progress, settlement).progress;
  return applyExpiry(after, { at: AT, wasInterrupted: false }).progress;
}

test("what an interrupted attempt may have sent is not taken for unsent when a later one is put off", () => {
  const interrupted = job();
  const settlements = [
    judge(interrupted, { parts: [deferred], countsAsAttempt: true }, verdict),
    judgeOutOfHours(interrupted, { now: AT, opensAt: AT + 60_000 }),
    judgeWaiting(interrupted, { now: AT, owner: "c2", waitMs: 1_000 }),
    judgeUnprepared(interrupted, AT),
  ];
  for (const settlement of settlements) {
    expect(settlement.next.kind).toBe("again");
    expect(endOf(interrupted, settlement)).toMatchObject({
      status: "failed",
      error: { code: "unconfirmed" },
    });
  }
});

test("an SMS whose window is over has failed, in doubt, if an attempt was interrupted, and has expired if none was", () => {
  const ends = [true, false].map((wasInterrupted) => {
    const late = job({ wasInterrupted });
    return applyAttempt(late.progress, judgeExpired(late, AT)).progress;
  });
  expect(ends).toMatchObject([
    { status: "failed", error: { code: "unconfirmed" } },
    { status: "expired", error: { code: "expired" } },
  ]);
});

test("an SMS that was made anew in fewer segments than were counted has only those, also if an attempt before was interrupted", () => {
  const counted = sms({ parts: [unsent, unsent, unsent] });
  for (const wasInterrupted of [true, false]) {
    const again = job({ wasInterrupted, progress: counted });
    const settled = (...parts: (PartOutcome | undefined)[]) => {
      const settlement = judge(again, { parts, countsAsAttempt: true }, verdict);
      const { parts: left, status } = applyAttempt(counted, settlement).progress;
      return [settlement.next.kind, left.length, status];
    };
    expect(settled(sent("a"), sent("b"))).toEqual(["done", 2, "sent"]);
    expect(settled(deferred, deferred)).toEqual(["again", 2, "queued"]);
    expect(settled(sent("a"), undefined, sent("c"))).toEqual(["again", 3, "queued"]);
  }
});

const unsent: Part = { status: "pending" };

test("a later attempt that sends it is told as it is, and of one that hears nothing either, that it was not the only one", () => {
  const parts = [sent("x"), unconfirmed];
  const doubtful = { ...unconfirmed, mayHaveLeft: true } as PartOutcome;
  expect(judge(job(), { parts, countsAsAttempt: true }, verdict).outcomes).toEqual([sent("x"), doubtful]);
});

test("parts that were settled before, and those of other jobs, are not in doubt", () => {
  const parts = [{ status: "sent" }, { status: "pending" }, { status: "pending" }] as const;
  const interrupted = job({ progress: sms({ parts }), parts: [0, 1] });
  const { outcomes } = judge(interrupted, { parts: [undefined, deferred], countsAsAttempt: true }, verdict);
  expect(outcomes).toMatchObject([undefined, { kind: "deferred", mayHaveLeft: true }, undefined]);
});

test("without an interruption what was put off has not left", () => {
  const calm = job({ wasInterrupted: false });
  const settlement = judge(calm, { parts: [deferred], countsAsAttempt: true }, verdict);
  expect(endOf(calm, settlement).status).toBe("expired");
});

test("of the attempts that a provider throttles for a day few are noted, and all that sent something", () => {
  const noted = (change: Partial<ClaimedJob>, parts = [deferred], countsAsAttempt = false) => {
    const { next } = judge(job({ wasInterrupted: false, ...change }), { parts, countsAsAttempt }, verdict);
    return next.kind === "again" && next.isRepeat !== true;
  };
  const claims = Array.from({ length: 86_400 }, (_, index) => index + 1);
  expect(claims.filter((claim) => noted({ claim }))).toHaveLength(32 + 11);
  expect(noted({ claim: 99 }, [deferred], true)).toBe(true);
  expect(noted({ claim: 99 }, [sent("x"), deferred])).toBe(true);
  expect(noted({ claim: 99 }, [unconfirmed])).toBe(true);
});

test("an SMS is tried twenty times, then what is still open of it has ended", () => {
  const next = (attempt: number) => {
    const calm = job({ wasInterrupted: false, attempt });
    return judge(calm, { parts: [deferred], countsAsAttempt: true }, verdict).next;
  };
  expect(next(18).kind).toBe("again");
  expect(next(19)).toEqual({ kind: "done", end: "attempts_spent" });
});

test("of the waits that are asked for the longest counts, whether or not each part has one", () => {
  const after = (...waits: readonly (number | undefined)[]) => {
    const parts = waits.map((ms) => (ms === undefined ? deferred : { ...deferred, retryAfterMs: ms }));
    const outcome = { parts: parts as PartOutcome[], countsAsAttempt: false };
    const { next } = judge(job(), outcome, { ...verdict, jitter: 0.5 });
    return next.kind === "again" ? next.dueAt - AT : undefined;
  };
  expect(after(60_000, 90_000, undefined)).toBe(90_000);
});

test("what is held before its segments were counted waits for word of each of them", () => {
  const { outcomes } = judgeHeld(job(), AT, 2);
  expect(outcomes).toMatchObject([{ kind: "unconfirmed" }, { kind: "unconfirmed" }]);
});

test("what is held is in doubt for the one attempt that was interrupted, where there was no other", () => {
  const doubtOf = (part: Part, interruption: Partial<ClaimedJob>) => {
    const interrupted = job({ claim: 4, progress: sms({ parts: [part] }), ...interruption });
    return applyAttempt(interrupted.progress, judgeHeld(interrupted, AT)).progress.parts[0];
  };
  const pending = { status: "pending" } as const;
  expect(doubtOf(pending, { interruptedClaim: 2 })).toMatchObject({ status: "unconfirmed", claim: 2 });
  expect(doubtOf(pending, { interruptions: 2 })).not.toHaveProperty("claim");
  // One that was not answered may have sent it as well.
  for (const claim of [{}, { claim: 1 }])
    expect(doubtOf({ status: "unconfirmed", ...claim }, { interruptedClaim: 2 })).not.toHaveProperty("claim");
});

test("what is held after an attempt without an answer, and none that was interrupted, stays in doubt for that attempt alone", () => {
  const unanswered: Part = { status: "unconfirmed", connectorId: "c1", claim: 1 };
  const calm = job({ wasInterrupted: false, interruptions: 0, progress: sms({ parts: [unanswered] }) });
  const [part] = applyAttempt(calm.progress, judgeHeld(calm, AT)).progress.parts;
  expect(part).toMatchObject({ status: "unconfirmed", connectorId: "c1", claim: 1 });
});

test("an email that is held for one recipient's sake is not in doubt for another, who has a job of their own", () => {
  const mail = job({ parts: [1], progress: email("ann@a.test", "bob@b.test") });
  const { outcomes } = judgeHeld(mail, AT);
  expect(outcomes).toEqual([undefined, expect.objectContaining({ kind: "unconfirmed" })]);
});

test("no message waits beyond its window, whether for the time of day, for a connector or for a bug's end", () => {
  const brief = job({ expiresAt: AT + 1_000 });
  const waits = [
    judgeOutOfHours(brief, { now: AT, opensAt: AT + 60_000 }),
    judgeWaiting(brief, { now: AT, owner: "c1", waitMs: 30_000 }),
    judgeUnprepared(brief, AT),
  ];
  for (const { next } of waits) expect(next).toMatchObject({ kind: "again", dueAt: AT + 1_000 });
});

test("an SMS of which a segment is refused has failed at once, for that, and its other segments are not tried again", () => {
  const calm = job({ wasInterrupted: false });
  for (const other of [deferred, unconfirmed, undefined]) {
    const parts = [other, rejected, sent("a")];
    const settlement = judge(calm, { parts, countsAsAttempt: true }, verdict);
    expect(settlement.next.kind).toBe("done");
    const { progress, entries } = applyAttempt(calm.progress, settlement);
    expect(progress).toMatchObject({ status: "failed", error: { code: "smpp.0x0000000b" } });
    expect(entries.at(-1)?.eventType).toBe("sms.failed");
  }
});

test("an email's job is over once its own recipients are, though others have jobs of their own", () => {
  const mail = job({ wasInterrupted: false, parts: [0], progress: email("ann@a.test", "bob@b.test") });
  const { next } = judge(mail, { parts: [sent("x")], countsAsAttempt: true }, verdict);
  expect(next).toEqual({ kind: "done" });
});

test("of the claims of a message that waits for a connector, or to be mended, ever fewer are noted", () => {
  for (const settle of [
    (waiting: ClaimedJob) => judgeWaiting(waiting, { now: AT, owner: "c1", waitMs: 1_000 }),
    (waiting: ClaimedJob) => judgeUnprepared(waiting, AT),
  ]) {
    const claims = Array.from({ length: 1_000 }, (_, index) => index + 1);
    const noted = claims.filter((claim) => !Object.hasOwn(settle(job({ claim })).next, "isRepeat"));
    expect(noted).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
  }
});

test("what one connector puts off, and another may take at once, counts as no attempt", () => {
  const putOff = judge(job({ wasInterrupted: false }), { parts: [deferred], countsAsAttempt: true }, verdict);
  expect(putOff.countsAsAttempt).toBe(true);
  expect(judgeFailover(putOff)).toMatchObject({ countsAsAttempt: false, next: { kind: "again", dueAt: AT } });
});

test("an email that one host refuses is tried again at the others that put it off", () => {
  const mail = job({ wasInterrupted: false, progress: email("ann@a.test", "bob@b.test") });
  const { next } = judge(mail, { parts: [rejected, deferred], countsAsAttempt: true }, verdict);
  expect(next.kind).toBe("again");
});

test("what was settled before is not waited for, and what is in doubt is, where it may not be sent again", () => {
  const nextOf = (status: "sent" | "unconfirmed", on_unconfirmed: string) => {
    const progress = sms({ parts: [{ status }, { status: "pending" }] });
    const begun = job({ wasInterrupted: false, progress, settings: { on_unconfirmed } });
    return judge(begun, { parts: [undefined, sent("x")], countsAsAttempt: true }, verdict).next;
  };
  expect(nextOf("sent", "resend")).toEqual({ kind: "done" });
  expect(nextOf("unconfirmed", "resend").kind).toBe("again");
  expect(nextOf("unconfirmed", "hold").kind).toBe("held");
  const putOff = job({ wasInterrupted: false, settings: { on_unconfirmed: "hold" } });
  const { next } = judge(putOff, { parts: [unconfirmed, deferred], countsAsAttempt: true }, verdict);
  expect(next.kind).toBe("again");
});

test("routes may let others try what one connector may have taken, but not the rest of an SMS that is held in part", () => {
  const parts = [{ status: "unconfirmed", connectorId: "c1" }, { status: "pending" }] as const;
  const owners = (progress: Progress, on_unconfirmed: string) => {
    const held = job({ progress, settings: { on_unconfirmed } });
    return [ownerOf(held, "safe"), ownerOf(held, "always")];
  };
  expect(owners(sms({ parts }), "resend")).toEqual(["c1", undefined]);
  expect(owners(sms({ parts }), "hold")).toEqual(["c1", "c1"]);
  expect(owners({ ...sms({ parts }), channel: "email" }, "hold")).toEqual(["c1", undefined]);
});
