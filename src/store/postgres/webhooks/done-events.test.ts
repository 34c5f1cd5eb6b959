/** Webhooks while a transaction that stays open on the server keeps vacuum from removing the states that they had. */
import { expect, test } from "bun:test";
import type { WebhookVerdict } from "../../../core/webhooks/webhook-outbox.ts";
import { createWorld, HOUR, SECOND, type World } from "../../contract/world.contract.ts";
import type { ClaimedLane } from "../../store.ts";
import {
  behindOpenTransaction,
  LOOK_MS,
  type SlowClock,
  type SlowProcess,
} from "../open-transaction.contract.ts";

const DONE = 10_000;
const EARLY = 3;
const PER_CLAIM = 500;

/**
 * What lies before the places that were reached is found when so much time has passed: four times that of the last look from the start,
 * of which one has passed since then, with noting what it found.
 */
const MOST_MS = 3 * LOOK_MS;

/** What was reached so long ago is a place to begin at. */
const LAG_MS = 10 * SECOND;

interface Ground {
  readonly world: Omit<World, "inside">;
  readonly clock: SlowClock;
  /** Adds an event to a lane, and returns the id of its message. */
  event(host: string): Promise<string>;
  /** Claims events of a lane, and returns the ids of their messages. */
  claim(lane: { readonly host: string } & Omit<ClaimedLane, "lane">): Promise<readonly string[]>;
  /** Of the messages whose events were there before all others, in their order, and are to be tried again at that time. */
  readonly early: { readonly ids: readonly string[]; readonly dueAt: number };
}

/**
 * Runs it with a process which has done `DONE` events of a lane, and to which the looks for them seemed slow; no time passes from then on.
 * Returns how many rows of the indexes of webhooks it has read.
 */
function behindDoneEvents(run: (ground: Ground) => Promise<void>): Promise<number> {
  return behindOpenTransaction("webhooks", async (process) => run(await reachBehind(process)));
}

async function reachBehind({ store, clock, driver }: SlowProcess): Promise<Ground> {
  const world = await createWorld(store);
  const { outbox } = store;
  const now = world.clock.now;
  const claimOf = ({ host, ...how }: Parameters<Ground["claim"]>[0]) => {
    const lane = { accountId: world.account.id, host };
    return outbox.claim({ lanes: [{ lane, ...how }], now, leaseMs: 60 * SECOND });
  };
  const claim: Ground["claim"] = async (lane) => (await claimOf(lane)).map(({ messageId }) => messageId);
  const event = async (host: string) => {
    const [id = ""] = await world.sms({ content: { callbackUrl: `https://${host}/` } });
    await world.settle(await world.claimOne());
    return id;
  };
  const ids: string[] = [];
  for (let made = 0; made < EARLY; made++) ids.push(await event("a.test"));
  const early = { ids, dueAt: now + HOUR };
  const verdict: WebhookVerdict = { kind: "again", at: early.dueAt };
  const attempt = { at: now, ms: 1, status: 500 };
  await outbox.settle(
    (await claimOf({ host: "a.test", limit: EARLY })).map((one) => ({ ...one, verdict, attempt })),
  );
  await driver.query(INSERT, [DONE]);
  for (let done = 0; done < DONE; done += PER_CLAIM) await claim({ host: "a.test", limit: PER_CLAIM });
  for (let times = 0; times < 2; times++) {
    clock.passedMs += LAG_MS;
    await claim({ host: "a.test", limit: 1 });
  }
  clock.lookMs = 0;
  return { world, clock, event, claim, early };
}

/** Their messages are not there, so that a claim deletes them. */
const INSERT = `INSERT INTO webhooks (message_id, sequence, position, account, lane, event_type, state, at)
  SELECT gen_random_uuid(), 1, 1, account, lane, event_type, 'ready', at FROM (SELECT * FROM webhooks LIMIT 1) AS w, generate_series(1, $1::int) n`;

/** So often what is read for each shows. */
const TIMES = 100;
const FEW = (TIMES * DONE) / 10;

test("claims of webhooks do not each pass over all events that are done, while a transaction keeps these", async () => {
  const less = await behindDoneEvents(async () => {});
  const more = await behindDoneEvents(async ({ claim, event }) => {
    const next = await event("a.test");
    expect(await claim({ host: "a.test", limit: 1 })).toEqual([next]);
    for (let claimed = 0; claimed < TIMES; claimed++) {
      expect(await claim({ host: "a.test", limit: 1 })).toEqual([]);
      expect(await claim({ host: "a.test", limit: 1, isNewestFirst: true })).toEqual([]);
    }
  });
  expect(more - less).toBeLessThan(FEW);
}, 120_000);

test(
  "events that are tried again from before the events that are done are all claimed once four times the time of a look is over, new ones of their lane and of others at once",
  () =>
    behindDoneEvents(async ({ world, clock, claim, event, early }) => {
      expect(await world.store.outbox.stage(early.dueAt, 10)).toBe(EARLY);
      const next = await event("a.test");
      const other = await event("b.test");
      expect(await claim({ host: "a.test", limit: 2 })).toEqual([next]);
      expect(await claim({ host: "b.test", limit: 2 })).toEqual([other]);
      clock.passedMs += MOST_MS - 1;
      expect(await claim({ host: "a.test", limit: 1 })).toEqual([]);
      clock.passedMs += 1;
      clock.lookMs = LOOK_MS;
      const claimed = [...(await claim({ host: "a.test", limit: 1 }))];
      clock.lookMs = 0;
      for (let more = 1; more < EARLY; more++) claimed.push(...(await claim({ host: "a.test", limit: 1 })));
      expect(claimed).toEqual([...early.ids]);
    }),
  120_000,
);

test(
  "an event that was held back is claimed at once where later ones of its lane were done only seconds ago",
  () =>
    behindOpenTransaction("webhooks", async (process) => {
      const { driver } = process;
      const { event, claim } = await reachBehind(process);
      const late = await event("a.test");
      await driver.query("UPDATE webhooks SET state = 'held' WHERE message_id = $1", [late]);
      const next = await event("a.test");
      expect(await claim({ host: "a.test", limit: 1 })).toEqual([next]);
      for (let times = 0; times < 3; times++) expect(await claim({ host: "a.test", limit: 1 })).toEqual([]);
      await driver.query("UPDATE webhooks SET state = 'ready' WHERE message_id = $1", [late]);
      expect(await claim({ host: "a.test", limit: 1 })).toEqual([late]);
    }),
  120_000,
);

test("looks for webhooks that are due do not each pass over all leases that are over, while a transaction keeps these", async () => {
  const less = await behindDoneEvents(async () => {});
  const more = await behindDoneEvents(async ({ world: { store }, clock, early: { dueAt } }) => {
    clock.lookMs = LOOK_MS;
    await store.outbox.nextDueAt(dueAt - 1);
    clock.lookMs = 0;
    for (let looked = 0; looked < TIMES; looked++) {
      expect(await store.outbox.nextDueAt(dueAt - 1)).toBe(dueAt);
      expect(await store.outbox.stage(dueAt - 1, 10)).toBe(0);
    }
    expect(await store.outbox.stage(dueAt, 10)).toBe(EARLY);
  });
  expect(more - less).toBeLessThan(FEW);
}, 120_000);
