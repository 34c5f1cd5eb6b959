/** Where the account holds what is in doubt, nothing is sent again that a provider may have, however late anything is heard. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { deferred, rejected, unconfirmed } from "../../test/progress-samples.ts";
import { isOpen } from "../core/messages/part.ts";
import { isSettled } from "../core/messages/progress.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import type { LateRefusal } from "../core/receipts/late-answer.ts";
import { CONNECTOR, inWorld, SECOND, sent, type World } from "../store/contract/world.contract.ts";
import { openInMemory } from "../store/sqlite/sqlite-world.contract.ts";
import { judge, judgeHeld, judgeSettled } from "./judge.ts";

/** What the provider did with an attempt's message, if it was handed one. */
type Truth = "taken" | "rejected" | "deferred" | "not begun";

const ANSWERS = { taken: sent("x"), rejected, deferred } as const;
const TRUTHS = fc.constantFrom<Truth>("taken", "rejected", "deferred", "not begun");

interface Attempt {
  readonly job: ClaimedJob;
  readonly truth: Truth;
  state: "under way" | "given up" | "heard";
}

/**
 * A claim, by an account that holds now, or does not; an attempt is heard of, or given up without an answer; or its process stands
 * still until its lease is over.
 */
type Happening =
  | { readonly truth: Truth; readonly holds: boolean }
  | { readonly kind: "hear" | "give up" | "stand still"; readonly which: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ truth: TRUTHS, holds: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom("hear" as const, "give up" as const, "stand still" as const),
    which: fc.nat({ max: 3 }),
  }),
);

/** Of two attempts that were cut off one after the other, the provider has the first, and the second is heard of. */
const TWICE_INTERRUPTED: Happening[] = [
  { truth: "taken", holds: false },
  { kind: "stand still", which: 0 },
  { truth: "deferred", holds: false },
  { kind: "stand still", which: 0 },
  { truth: "taken", holds: true },
  { kind: "hear", which: 1 },
  { truth: "taken", holds: true },
];

interface Story {
  readonly world: World;
  readonly attempts: Attempt[];
  /** Refusals that came while another attempt was under way. */
  readonly refusals: Attempt[];
}

test("a held message is sent again only once every attempt before is known not to have sent it", async () => {
  let resent = 0;
  const property = fc.asyncProperty(fc.array(happening, { minLength: 6, maxLength: 16 }), async (all) => {
    await inWorld(openInMemory, async (world) => {
      await world.sms();
      const story: Story = { world, attempts: [], refusals: [] };
      for (const each of all) {
        if ("truth" in each) await claim(story, each);
        else await happen(story, each.kind, each.which);
        await tellRefusals(story);
      }
      if (story.attempts.length > 1) resent++;
    })();
  });
  await fc.assert(property, {
    numRuns: 150,
    interruptAfterTimeLimit: 30_000,
    examples: [[TWICE_INTERRUPTED]],
  });
  expect(resent).toBeGreaterThan(0);
}, 120_000);

async function claim(
  { world, attempts }: Story,
  { truth, holds }: { readonly truth: Truth; readonly holds: boolean },
): Promise<void> {
  await world.store.records.setSettings(world.account.id, { on_unconfirmed: holds ? "hold" : "resend" });
  await passTime(world, 30);
  const [job] = await world.claim(1);
  if (!job) return;
  const { parts } = job.progress;
  const isHeld = holds && (job.wasInterrupted || parts.some(({ status }) => status === "unconfirmed"));
  if (isSettled(job.progress) || (parts.length > 0 && !parts.some(isOpen)))
    return void (await settle(world, judgeSettled(job, world.clock.now)));
  if (isHeld) return void (await settle(world, judgeHeld(job, world.clock.now)));
  for (const earlier of holds ? attempts : []) {
    expect(earlier.truth).not.toBe("taken");
    expect(earlier.state).toBe("heard");
  }
  attempts.push({ job, truth, state: "under way" });
}

/** Short enough for a lease to last. */
async function passTime({ store, clock }: World, seconds: number): Promise<void> {
  clock.now += seconds * SECOND;
  await store.queue.stage(clock.now, 10);
}

const settle = async ({ store }: World, settlement: Settlement) =>
  (await store.queue.settle([settlement]))[0];

async function happen(story: Story, kind: string, which: number): Promise<void> {
  const { world, attempts } = story;
  if (kind === "stand still") return passTime(world, 120);
  const attempt = attempts[which % Math.max(1, attempts.length)];
  if (!attempt || attempt.state === "heard") return;
  const { job, truth } = attempt;
  if (truth === "not begun") return kind === "hear" ? putBack(story, attempt) : undefined;
  const wasGivenUp = attempt.state === "given up";
  if (kind === "give up" && wasGivenUp) return;
  attempt.state = kind === "give up" ? "given up" : "heard";
  const answer = kind === "give up" ? unconfirmed : ANSWERS[truth];
  if (wasGivenUp) return tellLate(story, attempt);
  const context = { now: world.clock.now, connectorId: CONNECTOR, jitter: 0.5 };
  const settlement = judge(job, { parts: [answer], countsAsAttempt: true }, context);
  const isOurs = await settle(world, settlement);
  if (!isOurs && kind === "hear" && truth !== "taken") story.refusals.push(attempt);
}

/** As where the process finds that the message may be another's by now, and hands nothing over. */
async function putBack({ world, refusals }: Story, attempt: Attempt): Promise<void> {
  attempt.state = "heard";
  const [isOurs] = await world.store.queue.release([attempt.job], world.clock.now);
  if (!isOurs) refusals.push(attempt);
}

async function tellLate({ world, refusals }: Story, attempt: Attempt): Promise<void> {
  const { messageId } = attempt.job;
  if (attempt.truth !== "taken") return void refusals.push(attempt);
  const answer = { connectorId: CONNECTOR, messageId, part: 0, parts: 1, providerMessageIds: ["x"] };
  await world.store.receipts.recordLateAnswer(answer, world.clock.now);
}

async function tellRefusals({ world, refusals }: Story): Promise<void> {
  for (const attempt of refusals.splice(0)) {
    const { messageId, claim } = attempt.job;
    const refusal = { connectorId: CONNECTOR, messageId, claim, ...refusalBy(attempt.truth) };
    if (!(await world.store.receipts.recordLateRefusal(refusal, world.clock.now))) refusals.push(attempt);
  }
}

function refusalBy(truth: Truth): Pick<LateRefusal, "part" | "outcome"> {
  return truth === "rejected"
    ? { part: 0, outcome: rejected as LateRefusal["outcome"] }
    : { ...(truth === "deferred" && { part: 0 }), outcome: deferred as LateRefusal["outcome"] };
}

test.each(["deferred", "not begun"] as const)(
  "an attempt that was cut off, and has turned out %s, is in no doubt at whichever claim, if no other was",
  (last) =>
    inWorld(openInMemory, async (world) => {
      const [id = ""] = await world.sms();
      const story: Story = { world, attempts: [], refusals: [] };
      for (const [which, truth] of (["deferred", "not begun", last] as const).entries()) {
        await claim(story, { truth, holds: true });
        await happen(story, which < 2 ? "hear" : "stand still", which);
      }
      await claim(story, { truth: "taken", holds: true });
      expect([story.attempts.length, await world.status(id)]).toEqual([3, "sending"]);
      await happen(story, "hear", 2);
      await tellRefusals(story);
      expect(await world.status(id)).toBe("queued");
      await claim(story, { truth: "taken", holds: true });
      expect(story.attempts).toHaveLength(4);
    })(),
);
