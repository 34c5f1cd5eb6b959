/** Copies of an SMS at several connectors, and all they say of them, in whatever order, held against a model of a few lines. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { inWorld, type OpenStore } from "../world.contract.ts";
import {
  awaited,
  begin,
  finish,
  happen,
  happening,
  isDelivered,
  type Story,
  say,
  settleNow,
} from "./copies-story.contract.ts";

/** On a slow machine there are fewer. */
const LIMITS = { numRuns: 60, interruptAfterTimeLimit: 30_000 };

export function copiesInAnyOrderContract(open: OpenStore): void {
  let runs = 0;
  for (const segments of [1, 2])
    test(
      `however the copies of an SMS of ${segments} fare, it is undelivered only when no other may be delivered, and does not stay sent then`,
      inWorld(open, async (world) => {
        const happenings = fc.array(happening, { maxLength: 12 + 8 * segments });
        const property = fc.asyncProperty(happenings, async (all) => {
          const story = await begin(world, `queue-${++runs}`, segments);
          for (const each of all) {
            await happen(story, each);
            if (await isOver(story)) return;
          }
          await failAll(story);
          expect(await world.status(story.id)).not.toBe("sent");
          expect(await world.store.receipts.countParked()).toBe(0);
        });
        await fc.assert(property, LIMITS);
      }),
      120_000,
    );
}

/** Whether the message has ended, as the model wants it. */
async function isOver({ world, id, segments, ended }: Story): Promise<boolean> {
  const { status, parts } = (await world.message(id)).progress;
  for (const [segment, copies] of segments.entries()) {
    const told = parts[segment]?.status;
    expect(told === "delivered").toBe(isDelivered(copies));
    // What is heard of it later comes too late.
    if (told === "undelivered" && !ended.has(segment)) expect(awaited(copies)).toEqual([]);
    if (told === "undelivered" || told === "delivered") ended.add(segment);
  }
  if (["queued", "sending", "sent"].includes(status)) return false;
  const isLost = parts.some((part) => part.status === "undelivered");
  expect(status).toBe(isLost ? "undelivered" : "delivered");
  return true;
}

async function failAll(story: Story): Promise<void> {
  await settleNow(story, ["sent", "sent"]);
  await finish(story);
  for (const [segment, copies] of story.segments.entries())
    for (const connectorId of copies.keys()) await say(story, { kind: "has failed", connectorId, segment });
}
