import { expect, test } from "bun:test";
import type { ClaimedWebhook } from "../../core/webhook-outbox.ts";
import { createWorld, HOUR, type World } from "../contract/world.contract.ts";
import type { Store } from "../store.ts";
import { openFresh, openOther } from "./postgres-world.contract.ts";

type Ground = Omit<World, "inside">;

const COUNT = 40;
const HOST = "a.test";

async function onTwo(run: (world: Ground, other: Store) => Promise<void>): Promise<void> {
  const { store, url } = await openFresh();
  const other = (await openOther(url)) as unknown as Store;
  await run(await createWorld(store), other);
  await other.close();
  await store.close();
}

/** Messages whose first event is in line. */
async function sendAll({ sms, claim, settle }: Ground): Promise<readonly string[]> {
  const to = Array.from({ length: COUNT }, (_, index) => `+91${index}`);
  const ids = await sms({ to, content: { callbackUrl: `https://${HOST}/` } });
  for (const job of await claim(COUNT)) await settle(job);
  return ids;
}

function take({ account, clock }: Ground, by: Store, limit: number): Promise<readonly ClaimedWebhook[]> {
  const lanes = [{ lane: { accountId: account.id, host: HOST }, limit }];
  return by.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
}

test(
  "of two processes that claim at once each gets other events, and between them all",
  () =>
    onTwo(async (world, other) => {
      const ids = await sendAll(world);
      const takers = Array.from({ length: 8 }, (_, index) => take(world, index % 2 ? other : world.store, 5));
      const taken = (await Promise.all(takers)).flat();
      while (taken.length < COUNT) {
        const more = await take(world, other, 5);
        if (more.length === 0) break;
        taken.push(...more);
      }
      expect(taken.map(({ messageId }) => messageId).toSorted()).toEqual(ids.toSorted());
    }),
  20_000,
);

test(
  "an event that is delivered in one process while the next one comes in another lets it go",
  () =>
    onTwo(async (world, other) => {
      const ids = await sendAll(world);
      const claimed = await take(world, world.store, COUNT);
      const attempt = { at: world.clock.now, ms: 1, status: 200, head: "" };
      const deliveries = claimed.map((event) =>
        other.outbox.settle([{ ...event, verdict: { kind: "delivered" }, attempt }]),
      );
      const receipts = ids.toReversed().map((id) => world.receive(`p-${id}`));
      await Promise.all([...deliveries, ...receipts]);
      const events = (await Promise.all(ids.map((id) => other.outbox.ofMessage(id)))).flat();
      const states = events.map(({ sequence, state }) => `${sequence} ${state}`);
      expect([...new Set(states)].toSorted()).toEqual(["1 delivered", "2 ready"]);
      expect(states).toHaveLength(2 * COUNT);
    }),
  20_000,
);

test(
  "of deliveries of one event that two processes settle the latest claim counts, and both are noted",
  () =>
    onTwo(async (world, other) => {
      const [id = ""] = await sendAll(world);
      const { store, clock } = world;
      const [stale] = await take(world, store, 1);
      await store.outbox.stage(clock.now + HOUR, COUNT);
      const current = (await take(world, other, COUNT)).find(({ messageId }) => messageId === id);
      const attempt = { at: clock.now, ms: 1, status: 500, head: "" };
      const verdict = { kind: "again", at: clock.now + HOUR } as const;
      const results = await Promise.all([
        store.outbox.settle([{ ...stale!, verdict: { kind: "delivered" }, attempt }]),
        other.outbox.settle([{ ...current!, verdict, attempt }]),
      ]);
      expect(results).toEqual([[false], [true]]);
      expect((await store.outbox.ofMessage(id))[0]).toMatchObject({
        state: "waiting",
        failures: 1,
        attempts: 2,
      });
      expect(await store.outbox.attempts({ messageId: id, sequence: 1 })).toHaveLength(2);
    }),
  20_000,
);
