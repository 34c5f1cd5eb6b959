import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { CONNECTOR, createWorld, deferred, QUEUE, SECOND, sent } from "../../contract/world.contract.ts";
import type { Heartbeat, Store } from "../../store.ts";
import { openDriver } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

const IDLE: Omit<Heartbeat, "process" | "now"> = { isSharing: true, keep: [], take: [], dead: [] };

/** Processes "a" and "b" that have had a heartbeat, and ways to let them claim jobs and webhooks, and "b" declare "a" dead. */
async function openTwo() {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const { clock } = world;
  for (const process of ["b", "a"]) await store.leases.heartbeat({ ...IDLE, process, now: clock.now });
  return {
    ...world,
    url,
    claim: (process: string | undefined, limit: number) =>
      store.queue.claim({
        queue: QUEUE,
        limit,
        now: clock.now,
        leaseMs: 60 * SECOND,
        ...(process !== undefined && { process }),
      }),
    /** Claims one webhook. */
    async take(process: string | undefined) {
      const lanes = [{ lane: { accountId: world.account.id, host: "a.test" }, limit: 1 }];
      const claim = { lanes, now: clock.now, leaseMs: 60 * SECOND };
      return (await store.outbox.claim({ ...claim, ...(process !== undefined && { process }) }))[0];
    },
    declareDead: () => declareADead(store, clock.now),
  };
}

async function declareADead({ leases }: Store, now: number): Promise<void> {
  const { processes } = await leases.heartbeat({ ...IDLE, process: "b", now });
  const dead = processes.filter(({ process }) => process === "a");
  await leases.heartbeat({ ...IDLE, process: "b", now, dead });
}

function settle(store: Store, { jobId, claim, messageId }: ClaimedJob, now: number) {
  const about = { jobId, claim, messageId, at: now, connectorId: CONNECTOR, keepsContent: false };
  return store.queue.settle([
    { ...about, countsAsAttempt: true, outcomes: [sent(`p-${messageId}`)], next: { kind: "done" } },
  ]);
}

test("what a dead process has claimed is found again at once, interrupted, and nothing of anybody else's", async () => {
  const { store, clock, claim, declareDead, sms, status, history } = await openTwo();
  const to = ["+1", "+2", "+3", "+4", "+5"];
  await sms({ to });
  const dead = await claim("a", 2);
  const own = await claim("b", 2);
  await claim(undefined, 1);
  clock.now += 12 * SECOND;
  await declareDead();
  expect(await store.queue.nextDueAt()).toBe(clock.now);
  expect(await store.queue.stage(clock.now, 10)).toBe(2);
  const again = await claim("b", 10);
  expect(again.map(({ messageId }) => messageId).toSorted()).toEqual(
    dead.map(({ messageId }) => messageId).toSorted(),
  );
  for (const job of again) {
    expect(job).toMatchObject({ wasInterrupted: true, claim: 2, attempt: 0 });
    expect(await history(job.messageId)).toContain("interrupted:queued");
  }
  for (const job of own) expect(await status(job.messageId)).toBe("sending");

  // The one that was declared dead has had its say.
  expect(await settle(store, dead[0]!, clock.now)).toEqual([false]);
  expect(await settle(store, again[0]!, clock.now)).toEqual([true]);
  await store.close();
});

test("a lease that seems to have run out is ended by its own process, and by others once that is gone", async () => {
  const { store, clock, claim, sms } = await openTwo();
  await sms({ to: ["+1", "+2", "+3"] });
  await claim("a", 2);
  await claim(undefined, 1);
  const ahead = clock.now + 3_600 * SECOND;
  // Nobody's name stands for nobody: there the time counts.
  expect(await store.queue.stage(ahead, 10)).toBe(1);
  expect(await store.queue.stage(ahead, 10, { process: "b", inFlight: [] })).toBe(0);
  expect(await store.queue.stage(ahead, 1, { process: "a", inFlight: [] })).toBe(1);
  await store.leases.leave("a");
  expect(await store.queue.stage(clock.now, 10, { process: "b", inFlight: [] })).toBe(0);
  expect(await store.queue.stage(ahead, 10, { process: "b", inFlight: [] })).toBe(1);
  await store.close();
});

test("a job that the dead process had put back, and another took since, is the other's", async () => {
  const { store, clock, claim, declareDead, sms } = await openTwo();
  await sms({ to: ["+1", "+2"] });
  const [put, late] = await claim("a", 2);
  await store.queue.release([put!], clock.now);
  const next = { kind: "again", dueAt: clock.now } as const;
  const about = { at: clock.now, countsAsAttempt: true, outcomes: [deferred()], keepsContent: false };
  const { jobId, messageId } = late!;
  await store.queue.settle([{ ...about, jobId, claim: late!.claim, messageId, next }]);
  await store.queue.stage(clock.now, 10);
  expect(await claim("b", 10)).toHaveLength(2);
  await declareDead();
  expect(await store.queue.stage(clock.now, 10)).toBe(0);
  await store.close();
});

test("what the dead process had put off waits until its time all the same", async () => {
  const { store, clock, claim, declareDead, sms } = await openTwo();
  await sms();
  const [job] = await claim("a", 1);
  const { jobId, messageId } = job!;
  const next = { kind: "again", dueAt: clock.now + 3_600 * SECOND } as const;
  const about = { at: clock.now, countsAsAttempt: true, outcomes: [deferred()], keepsContent: false };
  await store.queue.settle([{ ...about, jobId, claim: job!.claim, messageId, next }]);
  clock.now += 12 * SECOND;
  await declareDead();
  expect(await store.queue.nextDueAt()).toBe(next.dueAt);
  await store.close();
});

test("a job that somebody is writing about when its process is declared dead keeps its lease, and holds up nobody", async () => {
  const { store, url, clock, claim, declareDead, sms } = await openTwo();
  await sms({ to: ["+1", "+2"] });
  const [held] = await claim("a", 2);
  const driver = openDriver({ url, connections: 1 });
  await driver.hold(async (stranger) => {
    await stranger.exec("BEGIN");
    await stranger.query("SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE", [held!.jobId]);
    await declareDead();
    expect(await store.queue.stage(clock.now + 60 * SECOND, 10)).toBe(1);
    await stranger.exec("ROLLBACK");
  });
  expect(await store.queue.stage(clock.now, 10)).toBe(0);
  expect(await store.queue.stage(clock.now + 60 * SECOND, 10)).toBe(1);
  await driver.close();
  await store.close();
});

test("webhooks that a dead process was delivering are in line again at once, and nobody else's", async () => {
  const { store, clock, declareDead, take, ...world } = await openTwo();
  await world.sms({ to: ["+1", "+2", "+3"], content: { callbackUrl: "https://a.test/" } });
  for (const job of await world.claim("b", 3)) await settle(store, job, clock.now);
  const [dead, own] = [await take("a"), await take("b")];
  await take(undefined);
  clock.now += 12 * SECOND;
  await declareDead();
  expect(await store.outbox.stage(clock.now, 10)).toBe(1);
  expect(await take("b")).toMatchObject({ messageId: dead!.messageId, claim: 2 });
  expect(own!.messageId).not.toBe(dead!.messageId);
  expect(await take("b")).toBeUndefined();
  await store.close();
});

test("a webhook that somebody is writing about when its process is declared dead keeps its lease, and holds up nobody", async () => {
  const { store, url, clock, declareDead, take, ...world } = await openTwo();
  await world.sms({ to: ["+1", "+2"], content: { callbackUrl: "https://a.test/" } });
  for (const job of await world.claim("b", 2)) await settle(store, job, clock.now);
  const held = await take("a");
  await take("a");
  const driver = openDriver({ url, connections: 1 });
  await driver.hold(async (stranger) => {
    await stranger.exec("BEGIN");
    await stranger.query("SELECT 1 FROM webhooks WHERE id = $1 FOR UPDATE", [held!.id]);
    await declareDead();
    expect(await store.outbox.stage(clock.now + 60 * SECOND, 10)).toBe(1);
    await stranger.exec("ROLLBACK");
  });
  expect(await store.outbox.stage(clock.now, 10)).toBe(0);
  expect(await store.outbox.stage(clock.now + 60 * SECOND, 10)).toBe(1);
  await driver.close();
  await store.close();
});

test("a late result of an earlier delivery leaves the lease to the process that delivers now", async () => {
  const { store, clock, declareDead, take, ...world } = await openTwo();
  await world.sms({ content: { callbackUrl: "https://a.test/" } });
  for (const job of await world.claim("b", 1)) await settle(store, job, clock.now);
  const late = await take("b");
  clock.now += 60 * SECOND;
  await store.outbox.stage(clock.now, 10, { process: "b", inFlight: [] });
  await take("a");
  const attempt = { at: clock.now, ms: 5, status: 200 };
  const { id, messageId, claim } = late!;
  const told = await store.outbox.settle([{ id, messageId, claim, verdict: { kind: "delivered" }, attempt }]);
  expect(told).toEqual([false]);

  // Its own clock may be an hour behind: it still delivers.
  const ahead = clock.now + 3_600 * SECOND;
  expect(await store.outbox.stage(ahead, 10, { process: "b", inFlight: [] })).toBe(0);
  await declareDead();
  expect(await store.outbox.stage(clock.now, 10, { process: "b", inFlight: [] })).toBe(1);
  await store.close();
});

test("declaring a process dead finds what was claimed by the index of what waits, however many stand in line", async () => {
  const { store, url, clock, claim, sms } = await openTwo();
  await sms({ to: Array.from({ length: 1_000 }, (_, at) => `+44${at}`) });
  await claim("a", 3);
  const driver = openDriver({ url, connections: 1 });
  const scans = await scansOf(driver, url, (other) => declareADead(other, clock.now));
  expect(scans.filter(({ name }) => name === "jobs")).toEqual([
    { name: "jobs", whole: 0, indexed: expect.any(Number) },
  ]);
  await driver.close();
  expect(await store.queue.stage(clock.now, 10)).toBe(3);
  await store.close();
});
