import { expect, test } from "bun:test";
import { createHastyClock } from "../../../../test/fakes/hasty-clock.ts";
import type { PostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { until } from "../../../../test/until.ts";
import type { Clock } from "../../../core/clock.ts";
import type { ClaimedWebhook } from "../../../core/webhooks/webhook-outbox.ts";
import { createWorld, QUEUE, rejection, type World } from "../../contract/world.contract.ts";
import { OutcomeUnknown, type Store, StoreUnavailable } from "../../store.ts";
import { behindProxy, type ProxiedStore } from "../postgres-world.contract.ts";

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

/** A webhook in line, with the ways to claim it and to settle it as delivered. */
async function webhookOf({ sms, claimOne, settle, store, clock, account }: Way) {
  const lane = { accountId: account.id, host: "hooks.test" };
  const [messageId = ""] = await sms({ content: { callbackUrl: `https://${lane.host}/` } });
  await settle(await claimOne());
  const request = { lanes: [{ lane, limit: 1 }], now: clock.now, leaseMs: 60_000 };
  return {
    claim: () => store.outbox.claim(request),
    claimAt: ({ outbox }: Store) => outbox.claim({ ...request, process: "another" }),
    deliver: ({ id, claim }: Pick<ClaimedWebhook, "id" | "claim">) => {
      const attempt = { at: clock.now, ms: 1, status: 200 };
      return store.outbox.settle([{ id, messageId, claim, verdict: { kind: "delivered" }, attempt }]);
    },
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

test("nor is a webhook's claim whose commit is lost", () =>
  onTheWay(async (way) => {
    const { claim, claimAt } = await webhookOf(way);
    const others = claimedByAnother(way.proxy, () => claimAt(way.near));
    expect(await rejection(claim())).toBeInstanceOf(StoreUnavailable);
    expect(await others).toBe(1);
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
