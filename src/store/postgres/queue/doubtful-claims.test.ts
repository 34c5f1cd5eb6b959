import { expect, test } from "bun:test";
import { keptPort } from "../../../../test/fakes/kept-port.ts";
import { openPostgresProxy, type PostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import type { Clock } from "../../../core/clock.ts";
import { createWorld, QUEUE, rejection, type World } from "../../contract/world.contract.ts";
import { OutcomeUnknown, type Store } from "../../store.ts";
import { openFresh, openOther } from "../postgres-world.contract.ts";

interface Way {
  readonly sms: World["sms"];
  /** A claim by this process, whose way to the database can be cut, and one by another. */
  readonly claim: () => ReturnType<Store["queue"]["claim"]>;
  readonly claimElsewhere: () => ReturnType<Store["queue"]["claim"]>;
  readonly proxy: PostgresProxy;
  readonly openAgain: () => Promise<void>;
}

async function onTheWay(run: (way: Way) => Promise<void>): Promise<void> {
  const { store: near, url } = await openFresh();
  const port = await keptPort();
  const proxy = await openPostgresProxy(url, port);
  const far = await openOther(proxy.url, { clock: hasty() });
  const { sms, clock } = await createWorld(near);
  const request = { queue: QUEUE, limit: 10, now: clock.now, leaseMs: 60_000 };
  const proxies = [proxy];
  try {
    await run({
      sms,
      claim: () => far.queue.claim({ ...request, process: "this" }),
      claimElsewhere: () => near.queue.claim({ ...request, process: "another" }),
      proxy,
      openAgain: async () => void proxies.push(await openPostgresProxy(url, port)),
    });
  } finally {
    await far.close();
    for (const each of proxies) await each.close();
    await near.close();
  }
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
    let others = await claimElsewhere();
    while (others.length === 0) others = await claimElsewhere();
    expect(others.map((job) => job.claim)).toEqual([1]);
    await openAgain();
    expect(await claim()).toEqual([]);
    expect(await claimElsewhere()).toEqual([]);
  }));

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
