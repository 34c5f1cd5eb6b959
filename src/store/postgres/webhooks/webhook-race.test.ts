import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import type { ClaimedWebhook } from "../../../core/webhooks/webhook-outbox.ts";
import { createWorld, HOUR, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { openDriver, type Session } from "../database/driver.ts";
import { openClosable, type Transaction } from "../database/transactions.ts";
import { openFresh, openOther } from "../postgres-world.contract.ts";
import { addWebhooks } from "./webhook-log.ts";

type Ground = Omit<World, "inside">;

const COUNT = 40;
const HOST = "a.test";

async function onTwo(run: (world: Ground, other: Store, url: string) => Promise<void>): Promise<void> {
  const { store, url } = await openFresh();
  const other = (await openOther(url)) as unknown as Store;
  await run(await createWorld(store), other, url);
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
  120_000,
);

test(
  "what another process is claiming at the moment is passed over, and not waited for",
  () =>
    onTwo(async (world, _, url) => {
      await sendAll(world);
      const stranger = openDriver({ url, connections: 1 });
      await stranger.hold(async (connection) => {
        await connection.exec("BEGIN; SELECT 1 FROM webhooks ORDER BY id LIMIT 3 FOR UPDATE");
        expect(await take(world, world.store, COUNT)).toHaveLength(COUNT - 3);
        await connection.exec("ROLLBACK");
      });
      expect(await take(world, world.store, COUNT)).toHaveLength(3);
      await stranger.close();
    }),
  120_000,
);

test(
  "a lease that seems to have run out is ended by its own process, and by others once that is gone",
  () =>
    onTwo(async (world, other) => {
      await sendAll(world);
      const beat = { isSharing: false, keep: [], take: [], dead: [], now: world.clock.now };
      for (const process of ["a", "b"]) await other.leases.heartbeat({ ...beat, process });
      const lanes = [{ lane: { accountId: world.account.id, host: HOST }, limit: 2 }];
      const taken = await world.store.outbox.claim({ lanes, now: 0, leaseMs: HOUR, process: "a" });
      expect(taken).toHaveLength(2);
      const sweep = (process: string, limit: number) =>
        other.outbox.stage(world.clock.now, limit, { process, inFlight: [] });
      expect(await sweep("b", 10)).toBe(0);
      expect(await sweep("a", 1)).toBe(1);
      await other.leases.leave("a");
      expect(await sweep("b", 10)).toBe(1);
    }),
  120_000,
);

/** As the transaction does that moves the message. */
async function addSecond(session: Transaction, { account, clock }: Ground, id: string): Promise<void> {
  const [row] = await session.query<{ number: number }>("SELECT number FROM accounts WHERE id = $1", [
    account.id,
  ]);
  const message = { id, account: row?.number ?? 0, accountId: account.id, callbackHost: HOST };
  const step = { position: 2, at: clock.now, kind: "receipt", status: "delivered" } as const;
  await addWebhooks(session, [{ message, entry: { ...step, sequence: 2, eventType: "sms.delivered" } }]);
}

async function isWaiting(session: Session): Promise<boolean> {
  const sql = "SELECT 1 FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid() LIMIT 1";
  return (await session.query(sql)).length > 0;
}

test(
  "an event that comes while the one before is being delivered elsewhere is let go",
  () =>
    onTwo(async (world, other, url) => {
      const [id = ""] = await sendAll(world);
      const [claimed] = await take(world, world.store, 1);
      const { database, close } = openClosable(openDriver({ url, connections: 2 }), createSystemClock());
      const { settled } = await database.transaction(async (session) => {
        await addSecond(session, world, id);
        const attempt = { at: world.clock.now, ms: 1, status: 200, head: "" };
        const settled = other.outbox.settle([{ ...claimed!, verdict: { kind: "delivered" }, attempt }]);
        // It waits for the row: what it does not see it could not let go.
        const isLeased = async () => (await world.store.outbox.ofMessage(id))[0]?.state === "leased";
        await until(async () => !(await isLeased()) || isWaiting(database));
        return { settled };
      });
      expect(await settled).toEqual([true]);
      await close();
      const states = (await other.outbox.ofMessage(id)).map(({ sequence, state }) => `${sequence} ${state}`);
      expect(states).toEqual(["1 delivered", "2 ready"]);
    }),
  120_000,
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
  120_000,
);
