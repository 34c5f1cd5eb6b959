import { expect, test } from "bun:test";
import { createHastyClock } from "../../../../test/fakes/hasty-clock.ts";
import { until } from "../../../../test/until.ts";
import { createWorld, QUEUE, rejection, SECOND, type World } from "../../contract/world.contract.ts";
import { OutcomeUnknown, type Store } from "../../store.ts";
import { behindProxy, type ProxiedStore } from "../postgres-world.contract.ts";

type Claim = (laterMs?: number) => ReturnType<Store["queue"]["claim"]>;

/** A claim by this process, whose way to the database can be cut, and one by another. */
type Way = ProxiedStore & Pick<World, "sms"> & { readonly claim: Claim; readonly claimElsewhere: Claim };

function onTheWay(run: (way: Way) => Promise<void>): Promise<void> {
  const withClaims = async (stores: ProxiedStore) => {
    const { sms, clock } = await createWorld(stores.near);
    const request = { queue: QUEUE, limit: 10, now: clock.now, leaseMs: 60 * SECOND };
    await run({
      ...stores,
      sms,
      claim: (laterMs = 0) =>
        stores.far.queue.claim({ ...request, now: clock.now + laterMs, process: "this" }),
      claimElsewhere: () => stores.near.queue.claim({ ...request, process: "another" }),
    });
  };
  return behindProxy(withClaims, { clock: createHastyClock() });
}

test("what was claimed without anybody knowing is in line again with the next claim, and not only when the lease ends", () =>
  onTheWay(async ({ sms, claim, proxy, openAgain }) => {
    const ids = await sms({ to: ["+911", "+912"] });
    const lost = proxy.loseNext("answer to COMMIT").then(proxy.close);
    expect(await rejection(claim())).toBeInstanceOf(OutcomeUnknown);
    await lost;
    await openAgain();
    const jobs = await claim();
    expect(jobs.map(({ messageId }) => messageId).sort()).toEqual([...ids].sort());
    expect(jobs.map((job) => [job.claim, job.attempt])).toEqual([
      [2, 0],
      [2, 0],
    ]);
    expect(await claim()).toEqual([]);
  }));

test("what another process has claimed meanwhile, under the same number, stays its own", () =>
  onTheWay(async ({ sms, claim, claimElsewhere, proxy, openAgain }) => {
    await sms();
    const lost = proxy.loseNext("COMMIT").then(proxy.close);
    expect(await rejection(claim())).toBeInstanceOf(OutcomeUnknown);
    await lost;
    const others = await until(claimElsewhere, ({ length }) => length > 0);
    expect(others.map((job) => job.claim)).toEqual([1]);
    await openAgain();
    expect(await claim()).toEqual([]);
    expect(await claimElsewhere()).toEqual([]);
  }));

test("what this process claims later, under the same number, is not taken for what was in doubt", () =>
  onTheWay(async ({ sms, claim, proxy, openAgain }) => {
    await sms();
    const lost = proxy.loseNext("COMMIT").then(proxy.close);
    expect(await rejection(claim())).toBeInstanceOf(OutcomeUnknown);
    await lost;
    await openAgain();
    expect((await claim(SECOND)).map((job) => job.claim)).toEqual([1]);
    expect(await claim(2 * SECOND)).toEqual([]);
  }));
