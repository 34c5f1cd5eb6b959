/** Jobs that stand in line are moved to another queue without being claimed, so that nothing of them is ever in doubt. */
import { expect, test } from "bun:test";
import type { MovedJob } from "../../queue/queue.ts";
import { HOUR, inWorld, type OpenStore, QUEUE, SMS, type World } from "../world.contract.ts";

const ANOTHER = "another";

const moved = (jobs: readonly Omit<MovedJob, "queue">[]) =>
  jobs.map(({ jobId, claim, messageId }) => ({ jobId, claim, messageId, queue: ANOTHER }));

const inLine = ({ store }: World, queue = QUEUE) => store.queue.inLine(queue, { limit: 10 });

export function moveContract(open: OpenStore): void {
  test(
    "what stands in line is read with all that a route is chosen by, page by page, and nothing of it is claimed",
    inWorld(open, async (world) => {
      const { store, account, sms, email, clock, claim, status } = world;
      const [last = ""] = await sms({ expiresAt: clock.now + 2 * HOUR });
      await sms({ expiresAt: clock.now + HOUR, to: ["+911"] });
      await sms({ queue: "b" });
      await sms({ dueAt: clock.now + HOUR });
      const [first, second, ...others] = await inLine(world);
      expect(others).toEqual([]);
      expect(first).toMatchObject({ recipient: "+911", accountId: account.id, claim: 0 });
      expect(second).toMatchObject({ flow: first!.flow, deadline: clock.now + 2 * HOUR });
      expect(second).toMatchObject({ progress: { parts: [] }, content: { channel: "sms", from: "ACME" } });
      expect(second!.content).toMatchObject({ tags: SMS.tags! });
      expect(await store.queue.inLine(QUEUE, { after: first!, limit: 10 })).toEqual([second!]);
      expect(await store.queue.inLine(QUEUE, { limit: 1 })).toEqual([first!]);
      expect(await store.queue.inLine("never", { limit: 10 })).toEqual([]);
      expect(await status(last)).toBe("queued");
      expect(await claim()).toMatchObject([{ claim: 1 }, { claim: 1, wasInterrupted: false }]);
      expect(await inLine(world)).toEqual([]);

      const parts = ["ann", "bob"].map((name) => ({
        address: `${name}@a.test`,
        status: "pending" as const,
      }));
      await email({ parts, jobs: [{ queue: QUEUE, parts: [1] }] });
      expect(await inLine(world)).toMatchObject([
        { parts: [1], progress: { parts }, content: { from: { email: "a@acme.test" } } },
      ]);
    }),
  );

  test(
    "moved jobs are handed out in the other queue, earliest deadline first, and have been in line as long as before",
    inWorld(open, async (world) => {
      const { store, sms, claim, clock, history } = world;
      const since = clock.now;
      const [later = ""] = await sms({ to: ["+911"], expiresAt: since + 2 * HOUR });
      const [sooner = ""] = await sms({ to: ["+912"], expiresAt: since + HOUR });
      clock.now += 1_000;
      const ready: string[] = [];
      const unsubscribe = store.queue.onReady((queue) => ready.push(queue));
      await store.queue.move(moved(await inLine(world)));
      unsubscribe();
      expect(ready).toContain(ANOTHER);
      expect(await claim()).toEqual([]);
      const backlog = await store.queue.backlog(9);
      expect(backlog).toContainEqual({ queue: ANOTHER, ready: 2, oldestReadySince: since });
      const claimed = await claim(10, ANOTHER);
      expect(claimed.map(({ messageId }) => messageId)).toEqual([sooner, later]);
      expect(await history(later)).toEqual([]);
    }),
  );

  test(
    "one that was claimed since it was read stays where it is, also when it is back in line",
    inWorld(open, async (world) => {
      const { store, sms, claim, claimOne, settle, clock } = world;
      await sms();
      const read = await inLine(world);
      const job = await claimOne();
      await store.queue.move(moved(read));
      await store.queue.release([job], clock.now);
      await store.queue.move(moved(read));
      expect(await claim(10, ANOTHER)).toEqual([]);
      expect(await settle(await claimOne())).toBe(true);
      await store.queue.move(moved(read));
    }),
  );

  test(
    "one that waits for its time becomes ready in the other queue",
    inWorld(open, async (world) => {
      const { store, sms, claim, claimOne, settle, clock } = world;
      await sms();
      const job = await claimOne();
      await settle(job, { outcomes: [], next: { kind: "again", dueAt: clock.now + 1_000 } });
      await store.queue.move(moved([job]));
      clock.now += 1_000;
      await store.queue.stage(clock.now, 10);
      expect(await claim()).toEqual([]);
      expect(await claim(10, ANOTHER)).toMatchObject([{ jobId: job.jobId, claim: 2, wasInterrupted: false }]);
    }),
  );
}
