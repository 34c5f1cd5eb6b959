/** Jobs that have lost their message, as a database that was damaged and mended may leave them. */
import { expect, test } from "bun:test";
import { HOUR, inWorld, type OpenStore, sent, type World } from "../world.contract.ts";

/** Three messages whose jobs are leased; that of the second is gone. */
async function claimThree({ sms, claim, inside }: World) {
  const ids = await sms({ to: ["+14155550101", "+14155550102", "+14155550103"] });
  const jobs = await claim();
  await inside.change(`DELETE FROM messages WHERE id = '${ids[1]}'`);
  return { ids, jobs };
}

export function lostMessageContract(open: OpenStore): void {
  test(
    "an attempt whose message is gone keeps no other from being settled with it, and its job ends",
    inWorld(open, async (world) => {
      const { ids, jobs } = await claimThree(world);
      const { store, clock, claim, status } = world;
      const settled = { at: clock.now, countsAsAttempt: true, keepsContent: false } as const;
      const settlements = jobs.map(({ jobId, claim: of, messageId }) => ({
        ...settled,
        jobId,
        claim: of,
        messageId,
        outcomes: [sent(`p-${messageId}`)],
        next: { kind: "done" } as const,
      }));
      expect(await store.queue.settle(settlements)).toEqual([true, true, true]);
      expect([await status(ids[0]!), await status(ids[2]!)]).toEqual(["sent", "sent"]);
      expect(await store.queue.stage(clock.now + HOUR, 10)).toBe(0);
      expect(await claim()).toEqual([]);
    }),
  );

  test(
    "a lease that runs out keeps no other from going back in line where its message is gone",
    inWorld(open, async (world) => {
      const { ids } = await claimThree(world);
      const { store, clock, claim } = world;
      expect(await store.queue.stage(clock.now + HOUR, 10)).toBe(3);
      expect((await claim()).map(({ messageId }) => messageId)).toEqual([ids[0]!, ids[2]!]);
    }),
  );

  test(
    "a job whose message is gone keeps no other from expiring",
    inWorld(open, async (world) => {
      const { ids, jobs } = await claimThree(world);
      const { store, clock, claim, status } = world;
      expect(await store.queue.release(jobs, clock.now)).toEqual([true, true, true]);
      expect(await store.queue.expire(clock.now + 48 * HOUR, 10)).toBe(3);
      expect([await status(ids[0]!), await status(ids[2]!)]).toEqual(["expired", "expired"]);
      expect(await claim()).toEqual([]);
    }),
  );
}
