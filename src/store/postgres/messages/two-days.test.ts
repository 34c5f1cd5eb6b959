import { expect, test } from "bun:test";
import { CONNECTOR, DAY, sent } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import type { Race } from "../database/race.contract.ts";
import { race, waiting } from "../database/race.contract.ts";

/** Accepts a message on each of two days, and claims both. */
async function claimOfTwoDays({ sms, claim, clock }: Race) {
  await sms();
  clock.now += DAY;
  await sms();
  const jobs = await claim(2);
  expect(jobs).toHaveLength(2);
  return jobs.toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1));
}

/** Runs `work` while a stranger changes the message; commits that change as soon as `work` waits for it. */
async function besideChange(url: string, messageId: string, work: () => Promise<unknown>): Promise<void> {
  const driver = openDriver({ url });
  await driver.hold(async (stranger) => {
    await stranger.exec(`BEGIN; UPDATE messages SET error = NULL WHERE id = '${messageId}'`);
    const working = work();
    await waiting(driver, 1);
    await stranger.exec("COMMIT");
    await working;
  });
  await driver.close();
}

for (const [index, which] of (["earlier", "later"] as const).entries()) {
  test(
    `of two messages settled together, each of another day, the ${which} one is found although it was just being changed`,
    () =>
      race(async (ground) => {
        const { store, clock, url, status } = ground;
        const jobs = await claimOfTwoDays(ground);
        const settlements = jobs.map(({ jobId, claim, messageId }) => ({
          jobId,
          claim,
          messageId,
          at: clock.now,
          connectorId: CONNECTOR,
          countsAsAttempt: true,
          keepsContent: false,
          next: { kind: "done" as const },
          outcomes: [sent(`p-${messageId}`)],
        }));
        await besideChange(url, jobs[index]?.messageId ?? "", () => store.queue.settle(settlements));
        for (const { messageId } of jobs) expect(await status(messageId)).toBe("sent");
      }),
    120_000,
  );

  test(
    `of two receipts recorded together, each about another day, that of the ${which} one counts although it was just being changed`,
    () =>
      race(async (ground) => {
        const { store, clock, url, status, settle } = ground;
        const jobs = await claimOfTwoDays(ground);
        for (const job of jobs) await settle(job, { outcomes: [sent(`p-${job.messageId}`)] });
        const receipts = jobs.map(({ messageId }) => ({
          connectorId: CONNECTOR,
          providerMessageId: `p-${messageId}`,
          status: "delivered" as const,
          receivedAt: clock.now,
        }));
        await besideChange(url, jobs[index]?.messageId ?? "", () => store.receipts.record(receipts));
        for (const { messageId } of jobs) expect(await status(messageId)).toBe("delivered");
      }),
    120_000,
  );
}
