import { expect, test } from "bun:test";
import { openPostgresProxy, type PostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import type { Clock } from "../../../core/clock.ts";
import { createWorld, QUEUE, rejection, type World } from "../../contract/world.contract.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../store.ts";
import { openFresh, openOther } from "../postgres-world.contract.ts";

type Way = Omit<World, "inside"> & { readonly proxy: PostgresProxy };

/** A store behind a proxy. */
async function onTheWay(run: (way: Way) => Promise<void>, clock?: Clock): Promise<void> {
  const { store, url } = await openFresh();
  const proxy = await openPostgresProxy(url);
  const far = await openOther(proxy.url, clock && { clock });
  try {
    await run({ ...(await createWorld(far)), proxy });
  } finally {
    await far.close();
    await proxy.close();
    await store.close();
  }
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
  onTheWay(async ({ proxy, sms }) => {
    await sms();
    const lost = proxy.loseNext("answer to COMMIT").then(proxy.close);
    expect(await rejection(sms())).toBeInstanceOf(OutcomeUnknown);
    await lost;
  }, hasty()));

/** A clock whose waits are over at once. */
function hasty(): Clock {
  let ms = 0;
  const after: Clock["after"] = (delayMs, run) => {
    ms += delayMs;
    setImmediate(run);
    return () => undefined;
  };
  return { now: () => ms, monotonicMs: () => ms, after };
}
