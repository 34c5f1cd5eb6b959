import { expect, test } from "bun:test";
import { SANDBOX_QUEUES } from "../../../core/records/routes.ts";
import { deferred, HOUR, inWorld, type OpenStore, QUEUE, SECOND, SMS } from "../world.contract.ts";

export function claimContract(open: OpenStore): void {
  test(
    "a claim hands out all an attempt needs, and the message is sending",
    inWorld(open, async ({ store, account, sms, claim, status, clock }) => {
      await store.records.setSettings(account.id, { on_unconfirmed: "hold" });
      const [id = ""] = await sms({ expiresAt: clock.now + HOUR });
      const [job, ...others] = await claim();
      expect(others).toEqual([]);
      expect(job).toEqual({
        jobId: job!.jobId,
        flow: job!.flow,
        claim: 1,
        attempt: 0,
        wasInterrupted: false,
        interruptions: 0,
        messageId: id,
        accountId: account.id,
        accountMode: "live",
        settings: { on_unconfirmed: "hold" },
        recipient: "+919812345678",
        progress: { channel: "sms", status: "sending", parts: [], sequence: 0, position: 0 },
        content: SMS,
        createdAt: clock.now,
        expiresAt: clock.now + HOUR,
      });
      expect(await status(id)).toBe("sending");
    }),
  );

  test(
    "what a sandbox account has accepted is of a sandbox, also once the account is live",
    inWorld(open, async ({ sms, email, claim }) => {
      await sms({ queue: SANDBOX_QUEUES.sms });
      await email({
        parts: [{ status: "pending", address: "a@x.test" }],
        jobs: [{ queue: SANDBOX_QUEUES.email }],
      });
      for (const queue of Object.values(SANDBOX_QUEUES))
        expect(await claim(1, queue)).toMatchObject([{ accountMode: "sandbox" }]);
    }),
  );

  test(
    "a job is handed out once, whoever claims",
    inWorld(open, async ({ sms, claim }) => {
      await sms({ to: Array.from({ length: 40 }, (_, index) => `+91${index}`) });
      const claims = await Promise.all(Array.from({ length: 8 }, () => claim(7)));
      const ids = claims.flat().map((job) => job.jobId);
      expect(ids).toHaveLength(40);
      expect(new Set(ids).size).toBe(40);
    }),
  );

  test(
    "a claim takes from its own queue only, and nothing from one that never was",
    inWorld(open, async ({ sms, claim }) => {
      await sms({ queue: "a" });
      const [id] = await sms({ queue: "b" });
      expect((await claim(10, "b")).map((job) => job.messageId)).toEqual([id!]);
      expect(await claim(10, "c")).toEqual([]);
    }),
  );

  test(
    "within a flow the earliest deadline goes first, and of equals the one accepted first",
    inWorld(open, async ({ sms, claim, clock }) => {
      const [late] = await sms({ expiresAt: clock.now + 3 * HOUR });
      const [early] = await sms({ expiresAt: clock.now + HOUR });
      const [same] = await sms({ expiresAt: clock.now + HOUR });
      const order = [];
      for (let i = 0; i < 3; i++) order.push(...(await claim(1)).map((job) => job.messageId));
      expect(order).toEqual([early!, same!, late!]);
    }),
  );

  test(
    "flows take turns, so that a single message never waits behind a batch",
    inWorld(open, async ({ sms, claim, addAccount, account }) => {
      const other = await addAccount();
      await sms({ to: Array.from({ length: 100 }, (_, index) => `+91${index}`) });
      const [mine = ""] = await sms();
      const [theirs = ""] = await sms({ account: other });
      const first = await claim(3);
      expect(first.map((job) => job.messageId)).toContain(mine);
      expect(first.map((job) => job.messageId)).toContain(theirs);
      expect(new Set(first.map((job) => job.accountId))).toEqual(new Set([account.id, other.id]));
    }),
  );

  test(
    "flows get equal shares of a claim, and what one leaves goes to the others",
    inWorld(open, async ({ sms, claim, addAccount }) => {
      const accounts = await Promise.all([addAccount(), addAccount(), addAccount()]);
      const numbers = (count: number) => Array.from({ length: count }, (_, index) => `+91${index}`);
      const counts = [50, 50, 4];
      for (const [index, account] of accounts.entries()) await sms({ account, to: numbers(counts[index]!) });
      const jobs = await claim(30);
      const share = accounts.map((account) => jobs.filter((job) => job.accountId === account.id).length);
      expect(share).toEqual([13, 13, 4]);
    }),
  );

  test(
    "so they do where a claim begins in the midst of them",
    inWorld(open, async ({ sms, claim, addAccount }) => {
      const accounts = await Promise.all([addAccount(), addAccount(), addAccount()]);
      const to = Array.from({ length: 9 }, (_, index) => `+91${index}`);
      for (const account of accounts) await sms({ account, to });
      await claim(2);
      const jobs = await claim(9);
      const share = accounts.map((account) => jobs.filter((job) => job.accountId === account.id).length);
      expect(share).toEqual([3, 3, 3]);
    }),
  );

  test(
    "a claim hands out as many jobs as it asks for and no more, where its flows cannot have equal shares",
    inWorld(open, async ({ sms, claim, addAccount }) => {
      const accounts = await Promise.all([addAccount(), addAccount(), addAccount()]);
      for (const account of accounts) await sms({ account, to: ["+911", "+912", "+913"] });
      expect(await claim(5)).toHaveLength(5);
      expect(await claim(2)).toHaveLength(2);
      expect(await claim(9)).toHaveLength(2);
    }),
  );

  test(
    "a claim is filled from the other flows where the one whose turn it is has no more",
    inWorld(open, async ({ sms, claim, addAccount }) => {
      const accounts = await Promise.all([addAccount(), addAccount()]);
      for (const first of [0, 1]) {
        await sms({ account: accounts[first]!, to: ["+911"] });
        await sms({ account: accounts[1 - first]!, to: ["+911", "+912"] });
        expect(await claim(3)).toHaveLength(3);
      }
    }),
  );

  test(
    "claims of one go round the flows from where the last ended",
    inWorld(open, async ({ sms, claim, addAccount }) => {
      const accounts = await Promise.all([addAccount(), addAccount(), addAccount()]);
      for (const account of accounts) await sms({ account, to: ["+911", "+912", "+913"] });
      const owners = [];
      for (let i = 0; i < 9; i++) owners.push((await claim(1))[0]!.accountId);
      expect(new Set(owners.slice(0, 3)).size).toBe(3);
      expect(owners.slice(3, 6)).toEqual(owners.slice(0, 3));
      expect(owners.slice(6, 9)).toEqual(owners.slice(0, 3));
    }),
  );

  test(
    "a flow that had less of a claim than the others has its turn before them in the next",
    inWorld(open, async ({ sms, claim, addAccount }) => {
      const accounts = await Promise.all([addAccount(), addAccount(), addAccount()]);
      const to = Array.from({ length: 9 }, (_, index) => `+91${index}`);
      for (const account of accounts) await sms({ account, to });
      const jobs = [...(await claim(5)), ...(await claim(5)), ...(await claim(5))];
      const share = accounts.map((account) => jobs.filter((job) => job.accountId === account.id).length);
      expect(share).toEqual([5, 5, 5]);
    }),
  );

  test(
    "scheduled messages are not handed out",
    inWorld(open, async ({ sms, claim, clock, status }) => {
      const [id = ""] = await sms({ dueAt: clock.now + HOUR });
      expect(await claim()).toEqual([]);
      expect(await status(id)).toBe("scheduled");
    }),
  );

  test(
    "released jobs are back in line without an attempt or an entry, and their claim is stale",
    inWorld(open, async ({ store, sms, claim, claimOne, status, history, settle, clock }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      await store.queue.release([job], clock.now);
      expect(await status(id)).toBe("queued");
      expect(await history(id)).toEqual([]);
      const again = await claimOne();
      expect(again).toMatchObject({ claim: 2, attempt: 0, wasInterrupted: false });
      await store.queue.release([job], clock.now);
      expect(await claim()).toEqual([]);
      expect(await settle(again)).toBe(true);
    }),
  );

  test(
    "a job that was put off until later is not released any more",
    inWorld(open, async ({ store, sms, claim, claimOne, settle, clock }) => {
      await sms();
      const job = await claimOne();
      await settle(job, { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now + HOUR } });
      await store.queue.release([job], clock.now);
      expect(await claim()).toEqual([]);
      expect(await store.queue.nextDueAt()).toBe(clock.now + HOUR);
    }),
  );

  test(
    "a message with several jobs stays sending while another of them is under way",
    inWorld(open, async ({ store, email, claim, status, clock }) => {
      const id = await email({
        parts: [
          { status: "pending", address: "a@a.test" },
          { status: "pending", address: "b@b.test" },
        ],
        jobs: [
          { queue: QUEUE, parts: [0] },
          { queue: QUEUE, parts: [1] },
        ],
      });
      const [first, second] = await claim();
      expect([first?.parts, second?.parts]).toEqual([[0], [1]]);
      await store.queue.release([first!], clock.now);
      expect(await status(id, "email")).toBe("sending");
      await store.queue.release([second!], clock.now);
      expect(await status(id, "email")).toBe("queued");
    }),
  );

  test(
    "messages that a claim leaves in line stay queued, of however many jobs",
    inWorld(open, async ({ email, claim, status }) => {
      const parts = ["a@a.test", "b@b.test"].map((address) => ({ status: "pending", address }) as const);
      const jobs = parts.map((_, part) => ({ queue: QUEUE, parts: [part] }));
      const [first, second] = [await email({ parts, jobs }), await email({ parts, jobs })];
      await claim(1);
      expect([await status(first, "email"), await status(second, "email")]).toEqual(["sending", "queued"]);
    }),
  );

  test(
    "a message that was settled while its jobs were leased stays so while they are claimed again, of however many jobs",
    inWorld(open, async ({ store, email, claim, receive, status, clock }) => {
      const parts = ["a@a.test", "b@b.test"].map((address) => ({ status: "pending", address }) as const);
      const id = await email({ parts, jobs: parts.map((_, part) => ({ queue: QUEUE, parts: [part] })) });
      await claim();
      for (const part of [0, 1]) await receive("", { target: { messageId: id, part }, status: "delivered" });
      expect(await status(id, "email")).toBe("delivered");
      clock.now += HOUR;
      await store.queue.stage(clock.now, 10);
      expect((await claim()).map(({ progress }) => progress.status)).toEqual(["delivered", "delivered"]);
      expect(await status(id, "email")).toBe("delivered");
    }),
  );

  test(
    "listeners hear of a queue after jobs have become ready in it, and not of what only waits",
    inWorld(open, async ({ store, sms, claimOne, settle, clock }) => {
      const heard: string[] = [];
      const stop = store.queue.onReady((queue) => heard.push(queue));
      const take = () => heard.splice(0);
      await Promise.all([sms({ queue: "a" }), sms({ queue: "a" }), sms({ queue: "b" })]);
      expect(take().sort()).toEqual(["a", "b"]);
      await sms({ dueAt: clock.now + HOUR });
      expect(take()).toEqual([]);
      await store.queue.stage(clock.now + HOUR, 10);
      expect(take()).toEqual([QUEUE]);
      await store.queue.release([await claimOne()], clock.now);
      expect(take()).toEqual([QUEUE]);
      const job = await claimOne();
      await settle(job, { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now + SECOND } });
      expect(take()).toEqual([]);
      stop();
      await sms({ queue: "a" });
      expect(take()).toEqual([]);
    }),
  );
}
