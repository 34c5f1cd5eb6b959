import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { createWorld, DAY, QUEUE, sent, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { openDriver } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

const DAYS = 4;
const PER_DAY = 160;
const PER_ROUND = 20;

type Ground = Omit<World, "inside">;

async function settleAll(store: Store, { clock }: Ground, jobs: readonly ClaimedJob[]): Promise<void> {
  await store.queue.settle(
    jobs.map(({ jobId, claim, messageId }) => ({
      jobId,
      claim,
      messageId,
      at: clock.now,
      countsAsAttempt: true,
      keepsContent: false,
      outcomes: [sent(`p-${messageId}`)],
      next: { kind: "done" },
    })),
  );
}

async function acceptDay({ sms }: Ground): Promise<void> {
  for (let count = 0; count < PER_DAY; count++) await sms({ to: [`+91${count}`] });
}

test("what is over makes no settlement dearer: contents of the days before are not read", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  for (let day = 1; day < DAYS; day++) {
    await acceptDay(world);
    await settleAll(store, world, await world.claim(PER_DAY));
    world.clock.now += DAY;
  }
  const driver = openDriver({ url, connections: 1 });
  await driver.query("ANALYZE");
  await acceptDay(world);
  const scans = await scansOf(driver, url, async (other) => {
    for (let count = 0; count < PER_DAY; count += PER_ROUND) {
      const request = { queue: QUEUE, limit: PER_ROUND, now: world.clock.now, leaseMs: 60_000 };
      await settleAll(other, world, await other.queue.claim(request));
    }
  });
  const daily = scans.map(({ name }) => name).filter((name) => /^contents_\d{8}$/.test(name));
  expect(daily).toEqual(["contents_20260118"]);
  await driver.close();
  await store.close();
}, 120_000);
