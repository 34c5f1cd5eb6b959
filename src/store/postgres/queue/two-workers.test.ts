import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import {
  CONNECTOR,
  createWorld,
  deferred,
  QUEUE,
  SECOND,
  sent,
  type World,
} from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { openDriver, type Session } from "../database/driver.ts";
import { openFresh, openOther } from "../postgres-world.contract.ts";

const MESSAGES = 300;

type Ground = Omit<World, "inside">;

/** What a worker does with the jobs of a claim, in turn: most are sent, some wait, some are given back. */
async function workThrough(by: Store, { clock }: Ground, jobs: readonly ClaimedJob[]): Promise<string[]> {
  const { now } = clock;
  const settled = jobs.map(async (job) => {
    const about = { jobId: job.jobId, claim: job.claim };
    if (job.claim % 3 === 1 && job.jobId % 5 === 0) {
      await by.queue.release([job], now);
      return [];
    }
    const isSent = job.attempt > 0 || job.jobId % 4 !== 0;
    const [isOurs] = await by.queue.settle([
      {
        ...about,
        messageId: job.messageId,
        at: now,
        connectorId: CONNECTOR,
        countsAsAttempt: true,
        outcomes: [isSent ? sent(`p-${job.messageId}`) : deferred()],
        next: isSent ? { kind: "done" } : { kind: "again", dueAt: now },
        keepsContent: false,
      },
    ]);
    return isOurs && isSent ? [job.messageId] : [];
  });
  return (await Promise.all(settled)).flat();
}

/** Until nothing is left to claim, with upkeep and receipts beside it. */
async function work(by: Store, world: Ground): Promise<string[]> {
  const { now } = world.clock;
  const done: string[] = [];
  for (;;) {
    const jobs = await by.queue.claim({ queue: QUEUE, limit: 20, now, leaseMs: 60 * SECOND });
    const sentNow = await workThrough(by, world, jobs);
    done.push(...sentNow);
    const receipts = sentNow.map((id) => ({
      connectorId: CONNECTOR,
      providerMessageId: `p-${id}`,
      status: "delivered" as const,
      receivedAt: now,
    }));
    const [, staged] = await Promise.all([
      by.receipts.record(receipts),
      by.queue.stage(now, 50),
      by.queue.expire(now, 50),
      by.retention.wipeContents(0, 10),
    ]);
    if (jobs.length === 0 && staged === 0) return done;
  }
}

test("two processes that claim, settle, release and stage at once send each message once, and lose none", async () => {
  const { store, url } = await openFresh();
  const other = await openOther(url);
  const world = await createWorld(store);
  const ids = await world.sms({ to: Array.from({ length: MESSAGES }, (_, at) => `+91${at}`) });
  for (let at = 0; at < 20; at++) ids.push(...(await world.sms()));
  const done = (await Promise.all([store, other, store, other].map((by) => work(by, world)))).flat();
  done.push(...(await work(store, world)));
  expect(done.toSorted()).toEqual(ids.toSorted());
  for (const id of ids) expect(await world.status(id)).toBe("delivered");
  expect(await store.queue.backlog(1)).toEqual([{ queue: QUEUE, ready: 0 }]);
  expect(await store.queue.nextDueAt()).toBeUndefined();
  await other.close();
  await store.close();
}, 120_000);

test("a job or a webhook that another process is just claiming is left to it, and nobody waits for it", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  /** How much is claimed while the first row is locked, and afterwards. */
  const claimed = (table: string, claim: () => Promise<readonly unknown[]>) =>
    driver.hold(async (another) => {
      await another.exec("BEGIN");
      await lockFirst(another, table);
      const beside = await claim();
      await another.exec("ROLLBACK");
      return [beside.length, (await claim()).length];
    });
  await world.sms({ to: ["+1", "+2", "+3"], content: { callbackUrl: "https://a.test/" } });
  const jobs: ClaimedJob[] = [];
  const claimJobs = async () => {
    const some = await world.claim();
    jobs.push(...some);
    return some;
  };
  expect(await claimed("jobs", claimJobs)).toEqual([2, 1]);
  for (const job of jobs) await world.settle(job);
  const lanes = [{ lane: { accountId: world.account.id, host: "a.test" }, limit: 10 }];
  const claimWebhooks = () => store.outbox.claim({ lanes, now: world.clock.now, leaseMs: SECOND });
  expect(await claimed("webhooks", claimWebhooks)).toEqual([2, 1]);
  await driver.close();
  await store.close();
});

function lockFirst(session: Session, table: string): Promise<unknown> {
  return session.query(`SELECT 1 FROM ${table} WHERE id = (SELECT min(id) FROM ${table}) FOR UPDATE`);
}

test("a job is neither moved nor released under the number that it shares with a job of another message, lost in a failover", async () => {
  const { store } = await openFresh();
  const { sms, claimOne, settle, status, clock } = await createWorld(store);
  const [id = ""] = await sms();
  const messageId = id.replace(/^./, "1");
  const [ready] = await store.queue.inLine(QUEUE, { limit: 1 });
  await store.queue.move([{ ...ready!, messageId, queue: "another" }]);
  const job = await claimOne();
  const lost = { ...job, messageId };
  expect(await store.queue.release([lost], clock.now)).toEqual([false]);
  expect(await status(id)).toBe("sending");
  expect(await settle(job)).toBe(true);
  await store.close();
});
