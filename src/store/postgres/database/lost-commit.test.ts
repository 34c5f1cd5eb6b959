import { expect, test } from "bun:test";
import { createHastyClock } from "../../../../test/fakes/hasty-clock.ts";
import type { PostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import type { Clock } from "../../../core/clock.ts";
import type { ClaimedJob, Settlement } from "../../../core/queue/claimed-job.ts";
import type { ClaimedWebhook } from "../../../core/webhooks/webhook-outbox.ts";
import { OTHER } from "../../contract/receipts/copies-world.contract.ts";
import {
  createWorld,
  deferred,
  HOUR,
  QUEUE,
  rejection,
  sent,
  type World,
} from "../../contract/world.contract.ts";
import { OutcomeUnknown, type Store, StoreUnavailable } from "../../store.ts";
import { behindProxy, type ProxiedStore, withDriver } from "../postgres-world.contract.ts";
import type { Session } from "./driver.ts";
import { resolveLostCommit } from "./lost-commit.ts";

type Way = Omit<World, "inside"> & ProxiedStore;

function onTheWay(run: (way: Way) => Promise<void>, options?: { clock: Clock }): Promise<void> {
  return behindProxy(async (stores) => run({ ...(await createWorld(stores.far)), ...stores }), options);
}

test("where the answer to a commit is lost what was accepted is found, and answered as accepted", () =>
  onTheWay(async ({ proxy, sms, claim }) => {
    await sms();
    const lost = proxy.loseNext("answer to COMMIT");
    const [id] = await sms();
    await lost;
    expect((await claim()).map((job) => job.messageId)).toContain(id!);
  }));

test("where the commit itself is lost nothing was accepted, and that is said", () =>
  onTheWay(async ({ proxy, sms, claim }) => {
    const [id] = await sms();
    const lost = proxy.loseNext("COMMIT");
    const error = await rejection(sms());
    await lost;
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).not.toBeInstanceOf(OutcomeUnknown);
    expect((await claim()).map((job) => job.messageId)).toEqual([id!]);
  }));

test("a settlement whose answer is lost has happened once, and so has a claim", () =>
  onTheWay(async ({ proxy, sms, claimOne, settle, history, store, clock }) => {
    const [id = ""] = await sms();
    const first = proxy.loseNext("answer to COMMIT");
    const job = await claimOne();
    await first;
    const second = proxy.loseNext("answer to COMMIT");
    expect(await settle(job)).toBe(true);
    await second;
    expect(await history(id)).toEqual(["attempt:sent"]);
    expect(await store.queue.claim({ queue: QUEUE, limit: 1, now: clock.now, leaseMs: 1 })).toEqual([]);
  }));

test("a claim and a settlement whose commit is lost have not happened", () =>
  onTheWay(async ({ proxy, sms, claim, claimOne, settle, history }) => {
    const [id = ""] = await sms();
    void proxy.loseNext("COMMIT");
    expect(await rejection(claim())).toBeInstanceOf(StoreUnavailable);
    const job = await claimOne();
    expect(job.claim).toBe(1);
    void proxy.loseNext("COMMIT");
    expect(await rejection(settle(job))).not.toBeInstanceOf(OutcomeUnknown);
    expect(await settle(job)).toBe(true);
    expect(await history(id)).toEqual(["attempt:sent"]);
  }));

type Delivered = Pick<ClaimedWebhook, "id" | "claim">;

/** A webhook in line, with the ways to claim it and to settle it as delivered. */
async function webhookOf({ sms, claimOne, settle, store, clock, account }: Way) {
  const lane = { accountId: account.id, host: "hooks.test" };
  const [messageId = ""] = await sms({ content: { callbackUrl: `https://${lane.host}/` } });
  await settle(await claimOne());
  const request = { lanes: [{ lane, limit: 1 }], now: clock.now, leaseMs: 60_000 };
  const deliverAt = ({ outbox }: Store, { id, claim }: Delivered) => {
    const attempt = { at: clock.now, ms: outbox === store.outbox ? 1 : 2, status: 200 };
    return outbox.settle([{ id, messageId, claim, verdict: { kind: "delivered" }, attempt }]);
  };
  return {
    claim: () => store.outbox.claim(request),
    claimAt: ({ outbox }: Store) => outbox.claim({ ...request, process: "another" }),
    deliver: (event: Delivered) => deliverAt(store, event),
    deliverAt,
    attempts: async () => (await store.outbox.attempts({ messageId, sequence: 1 }))?.length,
  };
}

test("a webhook's claim and settlement whose answers are lost have happened once", () =>
  onTheWay(async (way) => {
    const { claim, deliver, attempts } = await webhookOf(way);
    const first = way.proxy.loseNext("answer to COMMIT");
    const [event] = await claim();
    await first;
    const second = way.proxy.loseNext("answer to COMMIT");
    expect(await deliver(event!)).toEqual([true]);
    await second;
    expect(await attempts()).toBe(1);
  }));

test("a webhook's claim and settlement whose commit is lost have not happened", () =>
  onTheWay(async (way) => {
    const { claim, deliver, attempts } = await webhookOf(way);
    void way.proxy.loseNext("COMMIT");
    expect(await rejection(claim())).not.toBeInstanceOf(OutcomeUnknown);
    const [event] = await claim();
    void way.proxy.loseNext("COMMIT");
    expect(await rejection(deliver(event!))).not.toBeInstanceOf(OutcomeUnknown);
    expect(await deliver(event!)).toEqual([true]);
    expect(await attempts()).toBe(1);
  }));

/** What another process claims as soon as the commit of ours is lost, and before we can ask what became of it. */
async function claimedByAnother<T>(proxy: PostgresProxy, claim: () => Promise<readonly T[]>) {
  await proxy.loseNext("COMMIT");
  proxy.silence();
  const claimed = await until(claim, ({ length }) => length > 0);
  proxy.speak();
  return claimed.length;
}

test("a claim whose commit is lost is not taken for another process's claim of the same job", () =>
  onTheWay(async ({ proxy, near, sms, claim, clock }) => {
    await sms();
    const request = { queue: QUEUE, limit: 1, now: clock.now, leaseMs: 60_000, process: "another" };
    const others = claimedByAnother(proxy, () => near.queue.claim(request));
    expect(await rejection(claim())).toBeInstanceOf(StoreUnavailable);
    expect(await others).toBe(1);
  }));

test("a webhook's claim whose commit is lost is not taken for another process's", () =>
  onTheWay(async (way) => {
    const { claim, claimAt } = await webhookOf(way);
    const others = claimedByAnother(way.proxy, () => claimAt(way.near));
    expect(await rejection(claim())).toBeInstanceOf(StoreUnavailable);
    expect(await others).toBe(1);
  }));

function settlementOf({ jobId, claim, messageId }: ClaimedJob, at: number) {
  return {
    jobId,
    claim,
    messageId,
    at,
    countsAsAttempt: true,
    keepsContent: false,
  } satisfies Partial<Settlement>;
}

/** What another process has done as soon as the commit of ours is lost, and before we can ask what became of it. */
async function doneByAnother(proxy: PostgresProxy, does: () => Promise<unknown>): Promise<void> {
  await proxy.loseNext("COMMIT");
  proxy.silence();
  await does();
  proxy.speak();
}

test("a settlement whose commit is lost is not taken for that of a process that has taken the job over", () =>
  onTheWay(async ({ proxy, near, sms, claimOne, settle, status, history, receive, clock }) => {
    const [id = ""] = await sms();
    const job = await claimOne();
    const others = doneByAnother(proxy, async () => {
      await until(
        () => near.queue.stage(clock.now + HOUR, 1),
        (staged) => staged === 1,
      );
      const [again] = await near.queue.claim({ queue: QUEUE, limit: 1, now: clock.now, leaseMs: 60_000 });
      const attempt = { connectorId: OTHER, outcomes: [sent("b")], next: { kind: "done" } } as const;
      await near.queue.settle([{ ...settlementOf(again!, clock.now), ...attempt }]);
    });
    expect(await rejection(settle(job, { outcomes: [sent("a")] }))).toBeInstanceOf(StoreUnavailable);
    await others;
    expect(await settle(job, { outcomes: [sent("a")] })).toBe(false);
    expect(await history(id)).toEqual(["interrupted:queued", "attempt:sent", "lost_settle:sent"]);
    await receive("a");
    expect(await status(id)).toBe("delivered");
  }));

test("a settlement whose answer is lost has happened once, also where its job is back in line by then", () =>
  onTheWay(async ({ proxy, near, sms, claimOne, settle, history, clock }) => {
    const [id = ""] = await sms();
    const job = await claimOne();
    const again = { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now } } as const;
    const lost = proxy.loseNext("answer to COMMIT").then(async () => {
      proxy.silence();
      await until(
        () => near.queue.stage(clock.now, 1),
        (staged) => staged === 1,
      );
      proxy.speak();
    });
    expect(await settle(job, again)).toBe(true);
    await lost;
    expect(await history(id)).toEqual(["attempt:queued"]);
  }));

test("a webhook's settlement whose commit is lost is not taken for that of a process that has taken it over", () =>
  onTheWay(async (way) => {
    const { claim, claimAt, deliver, deliverAt, attempts } = await webhookOf(way);
    const [event] = await claim();
    const others = doneByAnother(way.proxy, async () => {
      await until(
        () => way.near.outbox.stage(way.clock.now + HOUR, 1),
        (staged) => staged === 1,
      );
      const [again] = await claimAt(way.near);
      await deliverAt(way.near, again!);
    });
    expect(await rejection(deliver(event!))).toBeInstanceOf(StoreUnavailable);
    await others;
    expect(await deliver(event!)).toEqual([false]);
    expect(await attempts()).toBe(2);
  }));

test("a claim that was not committed takes nobody's turn", () =>
  onTheWay(async ({ proxy, sms, claim, claimOne, addAccount }) => {
    const owners = await Promise.all([addAccount(), addAccount(), addAccount()]);
    for (const account of owners) await sms({ account, to: ["+911", "+912"] });
    const order = [(await claimOne()).accountId];
    void proxy.loseNext("COMMIT");
    await rejection(claim(1));
    for (let i = 0; i < 2; i++) order.push((await claimOne()).accountId);
    expect(new Set(order).size).toBe(3);
  }));

test("where the database stays away the outcome is unknown, and nobody is told otherwise", () =>
  onTheWay(
    async ({ proxy, sms }) => {
      await sms();
      const lost = proxy.loseNext("answer to COMMIT").then(proxy.close);
      expect(await rejection(sms())).toBeInstanceOf(OutcomeUnknown);
      await lost;
    },
    { clock: createHastyClock() },
  ));

test("while a table is missing it is not known what became of a commit: that is asked for until it is back", () =>
  withDriver(async (driver) => {
    let asked = 0;
    const isStored = async (session: Session) => {
      if (++asked === 2) await driver.query("ALTER TABLE jobs_away RENAME TO jobs");
      await session.query("SELECT FROM jobs");
      return true;
    };
    await driver.query("ALTER TABLE jobs RENAME TO jobs_away");
    await resolveLostCommit({ driver, clock: createSystemClock() }, { backend: 0, cause: "lost" }, isStored);
    expect(asked).toBe(2);
  }));
