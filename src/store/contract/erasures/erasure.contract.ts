import { expect, test } from "bun:test";
import { ERASED_ADDRESS, type NewErasure } from "../../../core/messages/erasure.ts";
import type { ErasurePage } from "../../store.ts";
import { deferred, HOUR, inWorld, numberAll, type OpenStore, sent, type World } from "../world.contract.ts";

const THEIRS = "+919800000001";
const OTHERS = "+919800000002";
const ADDRESS = "asha@x.test";

export function erasureContract(open: OpenStore): void {
  test(
    "an erased number's messages are gone with all that hangs on them, and others' stay, of the same batch too",
    inWorld(open, async (world) => {
      const { store, inside, sms, claim, settle, receive, account } = world;
      const [theirs = "", others = ""] = await sms({ to: [THEIRS, OTHERS] });
      for (const job of await claim()) await settle(job);
      await receive(`p-${theirs}`);
      const [queued = ""] = await sms({ to: [THEIRS] });
      await erase(world, THEIRS);
      for (const id of [theirs, queued]) expect(await find(world, id)).toBeUndefined();
      expect(await inside.countRows(queued)).toBe(0);
      expect(await claim()).toEqual([]);
      expect(await world.status(others)).toBe("sent");
      await numberAll(world);
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 10 });
      expect(events.flatMap((event) => (event.kind === "message" ? [event.message.id] : []))).toEqual([
        others,
      ]);
      // Of a batch its first message may be the one that stays.
      const [first = ""] = await sms({ to: [OTHERS, THEIRS] });
      await erase(world, THEIRS);
      expect(await world.status(first)).toBe("queued");
    }),
  );

  test(
    "the record of an erasure says that it was done, when, and how much went, and no longer whom it was about",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      await world.sms({ to: [THEIRS] });
      const asked = await request(world, THEIRS);
      expect(await store.erasures.create(asked)).toEqual({ ...recordOf(asked), erased: 0, redacted: 0 });
      clock.now += HOUR;
      await work(world);
      const record = { ...recordOf(asked), completedAt: clock.now, erased: 1, redacted: 0 };
      expect(await store.erasures.find(asked.id)).toEqual(record);
      expect(await store.erasures.list({ limit: 10 })).toEqual([record]);
      expect(await store.erasures.list({ after: asked.id, limit: 10 })).toEqual([]);
      expect(JSON.stringify(record)).not.toContain(THEIRS);
      expect(await store.erasures.find(world.id())).toBeUndefined();
    }),
  );

  test(
    "erasures are listed in the order they were asked for, or its reverse, page by page",
    inWorld(open, async (world) => {
      const { erasures } = world.store;
      const ids: string[] = [];
      for (const recipient of [THEIRS, OTHERS, ADDRESS])
        ids.push((await erasures.create(await request(world, recipient))).id);
      const [first = "", second = "", third = ""] = ids;
      const list = async (page: Partial<ErasurePage>) =>
        (await erasures.list({ limit: 2, ...page })).map(({ id }) => id);
      expect(await list({})).toEqual([first, second]);
      expect(await list({ after: second })).toEqual([third]);
      expect(await list({ order: "newest" })).toEqual([third, second]);
      expect(await list({ order: "newest", after: second })).toEqual([first]);
      expect(await list({ order: "newest", after: first })).toEqual([]);
    }),
  );

  test(
    "an email to several forgets the one recipient, and goes on to the others",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const parts = ["Asha@x.test", "ravi@x.test"].map(
        (address) => ({ status: "pending", address }) as const,
      );
      const id = await world.email({ parts, jobs: [{ queue: "queue-a" }] });
      await erase(world, ADDRESS);
      const [job] = await world.claim();
      expect(job?.progress.parts[0]).toMatchObject({ status: "failed", address: ERASED_ADDRESS });
      await world.settle(job!, { outcomes: [undefined, sent("p-1")] });
      const message = await world.message(id, "email");
      expect(message.progress).toMatchObject({
        status: "sent",
        parts: [{ status: "failed" }, { status: "sent" }],
      });
      expect(message.content).toMatchObject({ to: [{ email: ERASED_ADDRESS }, { email: "ravi@x.test" }] });
      expect(JSON.stringify(message).toLowerCase()).not.toContain(ADDRESS);
      await numberAll(world);
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 10 });
      expect(events).toHaveLength(1);
      expect((await store.erasures.list({ limit: 1 }))[0]).toMatchObject({ erased: 0, redacted: 1 });
    }),
  );

  test(
    "what the simulator shows of an email to several forgets the one recipient, with the name",
    inWorld(open, async (world) => {
      const { store, id, account, clock } = world;
      const parts = ["Asha@x.test", "ravi@x.test"].map(
        (address) => ({ status: "pending", address }) as const,
      );
      const messageId = await world.email({ parts, jobs: [{ queue: "queue-a" }] });
      const to = [{ email: "Asha@x.test", name: "Asha Rao" }, { email: "ravi@x.test" }];
      const rendered = { to, source: "To: Asha Rao <Asha@x.test>, ravi@x.test\r\n\r\nhi" };
      const ids = { id: id(), accountId: account.id, messageId };
      const entry = { channel: "email", to: "ravi@x.test", receivedAt: clock.now, rendered } as const;
      await store.sandbox.record([{ ...ids, ...entry }]);
      await erase(world, ADDRESS);
      const [shown] = await store.sandbox.list({ limit: 10 });
      expect(shown?.rendered).toEqual({
        to: [{ email: ERASED_ADDRESS }, { email: "ravi@x.test" }],
        source: `To: <${ERASED_ADDRESS}>, ravi@x.test\r\n\r\nhi`,
      });
    }),
  );

  test(
    "an address beyond ASCII is found as it was written",
    inWorld(open, async (world) => {
      const parts = [{ status: "pending", address: "\u00c9ric@X.test" }] as const;
      const id = await world.email({ parts, jobs: [{ queue: "queue-a" }] });
      await erase(world, "\u00c9ric@x.test");
      const query = { accountId: world.account.id, channel: "email", id } as const;
      expect(await world.store.messages.find(query)).toBeUndefined();
    }),
  );

  test(
    "the last open recipient's erasure ends an email, with its job and its body",
    inWorld(open, async (world) => {
      const { clock } = world;
      const parts = [ADDRESS, "ravi@x.test"].map((address) => ({ status: "pending", address }) as const);
      const id = await world.email({ parts, jobs: [{ queue: "queue-a" }] });
      const again = { kind: "again", dueAt: clock.now } as const;
      await world.settle(await world.claimOne(), { outcomes: [deferred(), sent("p-1")], next: again });
      await erase(world, ADDRESS);
      await world.store.queue.stage(clock.now, 10);
      expect(await world.claim()).toEqual([]);
      expect(await world.status(id, "email")).toBe("sent");
      expect(await world.inside.hasBody(id)).toBe(false);
    }),
  );

  test(
    "a message that is being sent is erased once its attempt has been settled",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const [id = ""] = await world.sms({ to: [THEIRS] });
      const job = await world.claimOne();
      await store.erasures.create(await request(world, THEIRS));
      for (let i = 0; i < 10; i++) await store.erasures.advance(clock.now, 10);
      expect(await world.status(id)).toBe("sending");
      expect(await world.settle(job)).toBe(true);
      await work(world);
      expect(await find(world, id)).toBeUndefined();
    }),
  );

  test(
    "an erasure in one account leaves the messages of others, and those that are accepted later",
    inWorld(open, async (world) => {
      const other = await world.addAccount();
      const [elsewhere = ""] = await world.sms({ to: [THEIRS], account: other });
      const [own = ""] = await world.sms({ to: [THEIRS] });
      await world.store.erasures.create({ ...(await request(world, THEIRS)), accountId: world.account.id });
      world.clock.now += 1;
      const [later = ""] = await world.sms({ to: [THEIRS] });
      await work(world);
      expect(await find(world, own)).toBeUndefined();
      expect(await find(world, later)).toBeDefined();
      const query = { accountId: other.id, channel: "sms", id: elsewhere } as const;
      expect(await world.store.messages.find(query)).toBeDefined();
      await erase(world, THEIRS);
      expect(await world.store.messages.find(query)).toBeUndefined();
    }),
  );

  test(
    "a saved answer stays, so that a repeat sends nothing, but no longer names the number",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const id = "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10";
      const body = `{"message_id":"${id}","status":"queued","to":"${THEIRS}"}`;
      const key = world.key("k");
      await world.sms({ to: [THEIRS], idempotency: { ...key, answer: { status: 202, body } } });
      await erase(world, THEIRS);
      const saved = await store.intake.savedAnswer({ ...key, now: clock.now });
      expect(saved).toMatchObject({ body: body.replace(THEIRS, "erased") });
    }),
  );

  test(
    "what a receiver answers to a webhook that is under way during the erasure is forgotten too",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const parts = [ADDRESS, "ravi@x.test"].map((address) => ({ status: "pending", address }) as const);
      const callbackUrl = "https://hooks.test/";
      await world.email({ parts, jobs: [{ queue: "queue-a" }], callbackUrl });
      await world.settle(await world.claimOne(), { outcomes: [sent("p-1"), sent("p-2")] });
      const lane = { accountId: account.id, host: "hooks.test" };
      const lanes = [{ lane, limit: 1 }];
      const [first] = await store.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
      expect(first?.body).toContain(ADDRESS);
      await erase(world, ADDRESS);
      const isDone = async () => (await store.erasures.list({ limit: 1 }))[0]?.completedAt !== undefined;
      expect(await isDone()).toBe(false);
      const attempt = { at: clock.now, ms: 5, status: 200, head: `thanks for ${first?.body}` };
      const { id, messageId, claim } = first!;
      const verdict = { kind: "delivered" } as const;
      expect(await store.outbox.settle([{ id, messageId, claim, verdict, attempt }])).toEqual([true]);
      await work(world);
      expect(await isDone()).toBe(true);
      expect(await store.outbox.attempts(first!)).toEqual([{ at: clock.now, ms: 5, status: 200 }]);
      const [next] = await store.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
      expect(next?.body).toContain(ERASED_ADDRESS);
      expect(next?.body).not.toContain(ADDRESS);
    }),
  );

  test(
    "erasing works in bounded steps",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const to = Array.from({ length: 40 }, (_, index) => (index % 2 ? THEIRS : OTHERS));
      await world.sms({ to });
      await store.erasures.create(await request(world, THEIRS));
      let most = 0;
      for (let before = 0, steps = 0; steps < 200; steps++) {
        const moved = await store.erasures.advance(clock.now, 10);
        const [record] = await store.erasures.list({ limit: 1 });
        most = Math.max(most, (record?.erased ?? 0) - before);
        before = record?.erased ?? 0;
        if (moved === 0) break;
      }
      expect(most).toBeLessThanOrEqual(11);
      expect((await store.erasures.list({ limit: 1 }))[0]).toMatchObject({
        erased: 20,
        completedAt: clock.now,
      });
    }),
  );
}

async function request({ id, clock }: World, recipient: string): Promise<NewErasure> {
  return { id: id(), recipient, salt: "s".repeat(32), digest: "d".repeat(64), createdAt: clock.now };
}

function recordOf({ recipient: _, ...record }: NewErasure): Omit<NewErasure, "recipient"> {
  return record;
}

async function erase(world: World, recipient: string): Promise<void> {
  await world.store.erasures.create(await request(world, recipient));
  await work(world);
}

async function work({ store, clock }: World): Promise<void> {
  for (let steps = 0; steps < 500; steps++) if ((await store.erasures.advance(clock.now, 10)) === 0) return;
  throw new Error("erasing does not end");
}

function find({ store, account }: World, id: string) {
  return store.messages.find({ accountId: account.id, channel: "sms", id });
}
