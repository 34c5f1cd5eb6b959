import { expect, test } from "bun:test";
import type { PartOutcome } from "../../core/messages/outcome.ts";
import { DELIVERED, sendAndReceive, settleWebhook, take } from "./webhooks/outbox.contract.ts";
import {
  DAY,
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  QUEUE,
  rejection,
  SMS,
  sent,
  unconfirmed,
  type World,
} from "./world.contract.ts";

export function pruneContract(open: OpenStore): void {
  test(
    "the text of a batch is wiped when no attempt can need it for any of its messages",
    inWorld(open, async ({ store, sms, claim, settle, inside }) => {
      for (const isReversed of [false, true]) {
        const [id = ""] = await sms({ to: ["+911", "+912"] });
        const jobs = await claim();
        const [first, second] = isReversed ? jobs.toReversed() : jobs;
        await settle(first!);
        expect(await store.retention.wipeContents(0, 10)).toBe(0);
        expect(await inside.hasBody(id)).toBe(true);
        await settle(second!);
        expect(await store.retention.wipeContents(0, 10)).toBe(1);
        expect(await inside.hasBody(id)).toBe(false);
        expect(await store.retention.wipeContents(0, 10)).toBe(0);
      }
    }),
  );

  test(
    "the text of a batch that is over is wiped though another, whose ids lie among its own, is not",
    inWorld(open, async (world) => {
      const { store, account, id, clock, claim, settle, inside } = world;
      const ids = Array.from({ length: 4 }, id);
      const frame = { accountId: account.id, flow: "batch", content: SMS } as const;
      const state = { recipient: "+911", status: "queued", parts: [], expiresAt: clock.now + DAY } as const;
      for (const [queue, ...own] of [
        ["over", ids[0]!, ids[3]!],
        ["open", ids[1]!, ids[2]!],
      ] as const) {
        const messages = own.map((messageId) => ({ ...state, id: messageId, jobs: [{ queue }] }));
        await store.intake.accept({ ...frame, messages });
      }
      for (const job of await claim(10, "over")) await settle(job);
      expect(await store.retention.wipeContents(0, 10)).toBe(1);
      expect([await inside.hasBody(ids[0]!), await inside.hasBody(ids[1]!)]).toEqual([false, true]);
    }),
  );

  test(
    "the text of a batch that is scheduled is there when its time comes",
    inWorld(open, async ({ store, sms, claim, clock }) => {
      await sms({ to: ["+911", "+912"], dueAt: clock.now + HOUR });
      expect(await store.retention.wipeContents(0, 10)).toBe(0);
      await store.queue.stage(clock.now + HOUR, 10);
      expect((await claim()).map(({ content }) => content)).toEqual([SMS, SMS]);
    }),
  );

  test(
    "the text of a batch stays while one of its messages is held: it is sent again once it is known not to have been",
    inWorld(open, async ({ store, sms, claim, settle, inside, clock }) => {
      const [id = ""] = await sms({ to: ["+911", "+912"] });
      const [one, other] = await claim();
      await settle(one!);
      await settle(other!, { outcomes: [unconfirmed()], next: { kind: "held", dueAt: clock.now + HOUR } });
      expect(await store.retention.wipeContents(0, 10)).toBe(0);
      expect(await inside.hasBody(id)).toBe(true);
    }),
  );

  test(
    "the text of a batch stays where the account keeps it, also when the batch expires",
    inWorld(open, async ({ store, sms, claim, settle, inside, account, clock }) => {
      const [settled = ""] = await sms({ to: ["+911", "+912"] });
      for (const job of await claim()) await settle(job, { keepsContent: true });
      await store.records.setSettings(account.id, { keep_bodies: "true" });
      const [expired = ""] = await sms({ to: ["+911", "+912"] });
      await store.queue.expire(clock.now + 2 * DAY, 10);
      expect(await store.retention.wipeContents(0, 10)).toBe(0);
      expect([await inside.hasBody(settled), await inside.hasBody(expired)]).toEqual([true, true]);
    }),
  );

  test(
    "batches still under way do not keep the text of later ones from being wiped",
    inWorld(open, async ({ store, sms, claim, settle }) => {
      for (let i = 0; i < 5; i++) await sms({ to: ["+911", "+912"], queue: "slow" });
      await sms({ to: ["+911", "+912"] });
      for (const job of await claim()) await settle(job);
      let wiped = 0;
      for (let i = 0; i < 6; i++) wiped += await store.retention.wipeContents(0, 2);
      expect(wiped).toBe(1);
    }),
  );

  test(
    "a final message goes after its retention, with all that hangs on it",
    inWorld(open, async (world) => {
      const { sms, settle, claimOne, receive, inside, clock } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [sent("s-1"), sent("s-2")] });
      await receive("s-1");
      await receive("s-2");
      expect(await inside.countRows(id)).toBeGreaterThan(5);
      expect(await pruneAll(world, { before: clock.now, atLatest: 0 })).toBe(0);
      expect(await pruneAll(world, { before: clock.now + OVER, atLatest: 0 })).toBe(1);
      expect(await inside.countRows(id)).toBe(0);
      expect((await receive("s-1"))[0]?.kind).toBe("parked");
    }),
  );

  test(
    "a message goes after its retention in whichever way it has ended, and nothing of one that is not over",
    inWorld(open, async (world) => {
      const { sms, email, settle, claimOne, receive, status, inside, clock } = world;
      const ended: string[] = [];
      const [waiting = ""] = await sms({ queue: "other" });
      const rows = await inside.countRows(waiting);
      for (const end of ["delivered", "undelivered", "expired", "failed"] as const) {
        const [id = ""] = await sms();
        await settle(await claimOne());
        await receive(`p-${id}`, { status: end });
        expect(await status(id)).toBe(end);
        ended.push(id);
      }
      for (const [end, outcome] of Object.entries(ENDS_OF_EMAIL)) {
        const id = await email({
          parts: [{ status: "pending", address: "b@x.test" }],
          jobs: [{ queue: QUEUE }],
        });
        await settle(await claimOne(), { outcomes: [outcome] });
        expect(await status(id, "email")).toBe(end);
        ended.push(id);
      }
      await pruneAll(world, { before: clock.now + OVER, atLatest: 0 });
      for (const id of ended) expect(await inside.countRows(id)).toBe(0);
      expect(await inside.countRows(waiting)).toBe(rows);
    }),
  );

  test(
    "an unfinished message stays until the latest day, and goes then with its job",
    inWorld(open, async (world) => {
      const { store, sms, settle, claim, claimOne, inside, clock, status } = world;
      const [queued = ""] = await sms();
      const [waiting = ""] = await sms({ dueAt: clock.now + HOUR });
      const [sentOnly = ""] = await sms({ queue: "other" });
      await settle((await claim(1, "other"))[0]!);
      const [retried = ""] = await sms({ queue: "other" });
      const again = { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now + DAY } } as const;
      await settle((await claim(1, "other"))[0]!, again);
      const overdue = { now: clock.now, sentBefore: clock.now + 1, limit: 10 };
      expect(await store.receipts.flagOverdue(overdue)).toBe(1);
      const lost = { outcomes: [unconfirmed()], next: { kind: "held", dueAt: clock.now + DAY } } as const;
      const [doubtful = ""] = await sms({ queue: "other" });
      await settle((await claim(1, "other"))[0]!, lost);
      expect(await pruneAll(world, { before: clock.now + OVER, atLatest: clock.now })).toBe(0);
      expect(await status(sentOnly)).toBe("sent");
      expect(await pruneAll(world, { before: clock.now + OVER, atLatest: clock.now + OVER })).toBe(5);
      for (const id of [queued, waiting, sentOnly, retried, doubtful])
        expect(await inside.countRows(id)).toBe(0);
      await store.queue.stage(clock.now + 2 * DAY, 10);
      expect(String(await rejection(claimOne()))).toContain("no job is ready");
    }),
  );

  test(
    "a final message stays until its webhooks have come to their end, but not beyond the latest day",
    inWorld(open, async (world) => {
      const { account, clock, inside } = world;
      const [id, given] = [await sendAndReceive(world), await sendAndReceive(world)];
      const kept = await inside.countRows(given);
      for (const verdict of [DELIVERED, { kind: "ended", reason: "spent" }] as const) {
        expect(await pruneAll(world, { before: clock.now + OVER, atLatest: 0 })).toBe(0);
        const [event] = (await take(world)).filter(({ messageId }) => messageId === id);
        await settleWebhook(world, event!, verdict);
      }
      clock.now += DAY;
      expect(await pruneAll(world, { before: clock.now + OVER, atLatest: 0 })).toBe(1);
      expect([await inside.countRows(id), await inside.countRows(given)]).toEqual([0, kept]);
      expect(await world.store.outbox.list({ accountId: account.id }, { limit: 10 })).toMatchObject({
        events: [{ messageId: given }, { messageId: given }],
      });
      expect(await pruneAll(world, { before: clock.now + OVER, atLatest: clock.now + OVER })).toBe(1);
      expect(await inside.countRows(given)).toBe(0);
    }),
  );

  test(
    "a batch's content goes with its last message",
    inWorld(open, async (world) => {
      const { sms, claim, settle, receive, message, inside, clock } = world;
      const [first = "", second = ""] = await sms({ to: ["+911", "+912"] });
      for (const job of await claim()) await settle(job);
      await receive(`p-${first}`);
      expect(await pruneAll(world, { before: clock.now + OVER, atLatest: 0 })).toBe(1);
      expect((await message(second)).content).toMatchObject({ templateId: "t-1" });
      await receive(`p-${second}`);
      expect(await pruneAll(world, { before: clock.now + OVER + DAY, atLatest: 0 })).toBe(1);
      expect(await inside.countRows(second)).toBe(0);
    }),
  );

  test(
    "unfinished messages are passed over once, and again when the day has gone on: by then some are final",
    inWorld(open, async (world) => {
      const { store, sms, claim, settle, receive, inside, clock } = world;
      const ids: string[] = [];
      for (let index = 0; index < 40; index++) ids.push(...(await sms()));
      for (const job of await claim(40)) await settle(job);
      const bounds = { before: clock.now + OVER, atLatest: 0, limit: 2 };
      expect(await pruneAll(world, bounds)).toBeGreaterThan(0);
      const minuteLater = { ...bounds, before: bounds.before + MINUTE };
      expect(await store.retention.pruneMessages(minuteLater)).toBe(0);
      await receive(`p-${ids[0]}`);
      await pruneAll(world, { ...bounds, before: bounds.before + DAY });
      expect(await inside.countRows(ids[0] ?? "")).toBe(0);
      expect(await inside.countRows(ids[1] ?? "")).toBeGreaterThan(0);
    }),
  );

  test(
    "of messages that are over none is passed over, however many more there are than go at a time",
    inWorld(open, async (world) => {
      const { sms, claim, settle, receive, inside, clock } = world;
      const ids: string[] = [];
      for (let index = 0; index < 30; index++) ids.push(...(await sms()));
      for (const job of await claim(30)) await settle(job);
      for (const id of ids) await receive(`p-${id}`);
      await pruneAll(world, { before: clock.now + OVER, atLatest: 0, limit: 3 });
      for (const id of ids) expect(await inside.countRows(id)).toBe(0);
    }),
  );

  test(
    "pruning works in bounded pieces, and unfinished messages do not keep it from those behind them",
    inWorld(open, async (world) => {
      const { store, sms, claim, settle, receive, clock } = world;
      await sms({ to: Array.from({ length: 30 }, (_, index) => `+91${index}`), queue: "slow" });
      await sms({ to: Array.from({ length: 7 }, (_, index) => `+92${index}`) });
      for (const job of await claim()) await settle(job);
      for (const job of await claim(30, "slow")) await receive(`p-${job.messageId}`);
      for (const job of await claim()) await receive(`p-${job.messageId}`);
      clock.now += OVER;
      const bounds = { before: clock.now, atLatest: 0, limit: 2 };
      expect(await store.retention.pruneMessages({ ...bounds, atLatest: clock.now })).toBeLessThanOrEqual(2);
      expect(await pruneAll(world, { ...bounds, atLatest: clock.now })).toBeGreaterThan(30);
      expect(await store.retention.pruneMessages(bounds)).toBe(0);
    }),
  );

  test(
    "parked receipts go after their retention",
    inWorld(open, async ({ store, receive, clock }) => {
      await receive("old");
      clock.now += HOUR;
      await receive("new");
      expect(await store.retention.pruneReceived(clock.now, 10)).toBe(1);
      expect(await store.receipts.countParked()).toBe(1);
      expect(await store.retention.pruneReceived(clock.now, 10)).toBe(0);
    }),
  );
}

/** An engine may wait until a day is over, and with contents until the day after is. */
const OVER = 2 * DAY;

const MINUTE = 60_000;

const REFUSED = { code: "5.1.1", message: "no such user" };

const ENDS_OF_EMAIL: Readonly<Record<string, PartOutcome>> = {
  delivered: { kind: "sent", providerMessageIds: [], delivered: true },
  bounced: { kind: "rejected", error: REFUSED, bounced: true },
  failed: { kind: "rejected", error: REFUSED },
};

/** Calls until there is nothing more to do; how many messages went. */
async function pruneAll(
  { store }: World,
  bounds: { readonly before: number; readonly atLatest: number; readonly limit?: number },
): Promise<number> {
  let pruned = 0;
  for (let calls = 0; calls < 100; calls++) {
    const moved = await store.retention.pruneMessages({ limit: 10, ...bounds });
    if (moved === 0) return pruned;
    pruned += moved;
  }
  throw new Error("pruning does not end");
}
