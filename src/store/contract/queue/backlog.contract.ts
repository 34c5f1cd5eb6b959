import { expect, test } from "bun:test";
import { HOUR, inWorld, type OpenStore, SECOND } from "../world.contract.ts";

export function backlogContract(open: OpenStore): void {
  test(
    "the backlog says per queue how many are ready, as far as it is asked to count, and since when the oldest has been",
    inWorld(open, async ({ store, sms, claim, clock }) => {
      const start = clock.now;
      await sms({ queue: "a" });
      await sms({ queue: "b", dueAt: start + HOUR });
      clock.now += SECOND;
      await sms({ queue: "a", to: ["+911", "+912"] });
      expect(await store.queue.backlog(2)).toEqual([
        { queue: "a", ready: 2, oldestReadySince: start },
        { queue: "b", ready: 0 },
      ]);
      expect(await store.queue.backlog(4)).toEqual([
        { queue: "a", ready: 3, oldestReadySince: start },
        { queue: "b", ready: 0 },
      ]);
      await store.queue.stage(start + 2 * HOUR, 10);
      await claim(10, "a");
      expect(await store.queue.backlog(4)).toEqual([
        { queue: "a", ready: 0 },
        { queue: "b", ready: 1, oldestReadySince: start + HOUR },
      ]);
    }),
  );

  test(
    "a queue's oldest is that of whatever account, and a released job has been ready since its release",
    inWorld(open, async ({ store, sms, claim, clock, addAccount }) => {
      const start = clock.now;
      const later = await addAccount();
      await sms({ account: later });
      clock.now += SECOND;
      await sms();
      const oldest = async () => (await store.queue.backlog(9)).map((each) => each.oldestReadySince);
      expect(await oldest()).toEqual([start]);
      for (const _ of ["first", "again"]) {
        const jobs = await claim();
        clock.now += SECOND;
        await store.queue.release(jobs, clock.now);
        expect(await oldest()).toEqual([clock.now]);
      }
    }),
  );

  test(
    "a job has been ready since its lease ran out, though it is released later",
    inWorld(open, async ({ store, sms, claim, clock }) => {
      await sms();
      const jobs = await claim();
      clock.now += 60 * SECOND;
      const ranOut = clock.now;
      await store.queue.stage(ranOut, 1);
      clock.now += SECOND;
      await store.queue.release(jobs, clock.now);
      expect((await store.queue.backlog(1)).map((each) => each.oldestReadySince)).toEqual([ranOut]);
    }),
  );

  test(
    "a queue's oldest is found whichever account's window ends first",
    inWorld(open, async ({ store, sms, clock, account, addAccount }) => {
      const start = clock.now;
      const other = await addAccount();
      const pairs = { a: [account, other], b: [other, account] } as const;
      for (const [queue, [older]] of Object.entries(pairs))
        await sms({ queue, account: older, expiresAt: start + 2 * HOUR });
      clock.now += SECOND;
      for (const [queue, [, younger]] of Object.entries(pairs))
        await sms({ queue, account: younger, expiresAt: start + HOUR });
      expect(await store.queue.backlog(2)).toEqual(
        Object.keys(pairs).map((queue) => ({ queue, ready: 2, oldestReadySince: start })),
      );
    }),
  );
}
