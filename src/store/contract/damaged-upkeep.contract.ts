import { expect, test } from "bun:test";
import type { Retention } from "../store.ts";
import { untilPassed } from "./damaged-row.contract.ts";
import { advanceAll } from "./erasures/erasure-passed-over.contract.ts";
import { piece } from "./inbound/inbound.contract.ts";
import { DAY, HOUR, inWorld, type OpenStore, type World } from "./world.contract.ts";

interface Upkeep {
  readonly name: string;
  /** What the log calls the row that fails. */
  readonly told: RegExp;
  /** Stores three old rows, and says which changes of one of them are refused. */
  readonly fill: (world: World) => Promise<Parameters<World["inside"]["refuse"]>>;
  readonly run: (retention: Retention, now: number) => Promise<number>;
}

const UPKEEP: readonly Upkeep[] = [
  {
    name: "an idempotency key that cannot be deleted",
    told: /^idempotency key \S+ \S+, put off for 3600 s: .*damaged/,
    async fill(world) {
      for (const body of ["first", "bad", "last"])
        await world.sms({ idempotency: { ...world.key(body), answer: { status: 202, body } } });
      return ["DELETE", "idempotency_keys", "OLD.body = 'bad'"];
    },
    run: (retention, now) => retention.pruneIdempotencyKeys(now, 10),
  },
  {
    name: "a suppression that cannot be deleted",
    told: /^suppression [-\da-f]{36}, put off for 3600 s: .*damaged/,
    async fill({ store, account, clock, id }) {
      const entry = { accountId: account.id, reason: "manual", createdAt: clock.now } as const;
      const expiresAt = clock.now + HOUR;
      const emails = ["first@example.org", "bad@example.org", "last@example.org"];
      await store.suppressions.add(emails.map((email) => ({ ...entry, id: id(), email, expiresAt })));
      return ["DELETE", "suppressions", "OLD.email = 'bad@example.org'"];
    },
    run: (retention, now) => retention.pruneSuppressions(now, 10),
  },
  {
    name: "a soft bounce that cannot be deleted",
    told: /^a? ?soft bounce (in account|at) \S+, put off for 3600 s: .*damaged/,
    async fill({ inside, account }) {
      for (const email of ["first", "bad", "last"])
        await inside.change(`INSERT INTO soft_bounces (account_id, email, days, last_day)
          VALUES ('${account.id}', '${email}@example.org', 1, 1)`);
      return ["DELETE", "soft_bounces", "OLD.email = 'bad@example.org'"];
    },
    run: (retention, now) => retention.pruneSuppressions(now, 10),
  },
  {
    name: "an inbound message that cannot be deleted",
    told: /message [-\da-f]{36}, put off for \d+ s: .*damaged/,
    async fill(world) {
      const texts = ["first", "bad", "last"];
      await world.store.inbound.receive(texts.map((text) => ({ ...piece(world), text })));
      return ["DELETE", "inbound_messages", "OLD.text = 'bad'"];
    },
    run: (retention, now) => retention.pruneInbound({ before: now, atLatest: 0, limit: 10 }),
  },
  {
    name: "a parked receipt that cannot be deleted",
    told: /^parked receipt \d+, put off for 3600 s: .*damaged/,
    async fill(world) {
      for (const id of ["first", "bad", "last"]) await world.receive(id);
      return ["DELETE", "parked_receipts", "OLD.id_key = 'BAD'"];
    },
    run: (retention, now) => retention.pruneReceived(now, 10),
  },
  {
    name: "a sandbox message that cannot be deleted",
    told: /^sandbox message [-\da-f]{36}, put off for 3600 s: .*damaged/,
    async fill({ store, account, clock, id }) {
      const entry = { accountId: account.id, channel: "sms", receivedAt: clock.now } as const;
      const recipients = ["+14155550101", "+14155550102", "+14155550103"];
      await store.sandbox.record(
        recipients.map((to) => ({ ...entry, id: id(), messageId: id(), to, rendered: {} })),
      );
      return ["DELETE", "sandbox_messages", "OLD.recipient = '+14155550102'"];
    },
    run: (retention, now) => retention.pruneReceived(now, 10),
  },
  {
    name: "a count of messages that cannot be deleted",
    told: /^count of messages (at|of account) \S+, put off for 3600 s: .*damaged/,
    async fill({ inside, clock }) {
      for (const recipient of ["first", "bad", "last"])
        await inside.change(`INSERT INTO sms_usage (account, recipient, hour, messages, segments)
          VALUES (1, '${recipient}', ${Math.floor(clock.now / HOUR)}, 1, 1)`);
      return ["DELETE", "sms_usage", "OLD.recipient = 'bad'"];
    },
    run: (retention, now) => retention.pruneReceived(now, 10),
  },
  {
    name: "a body that cannot be wiped",
    told: /^content \S+, put off for 3600 s: .*damaged/,
    async fill(world) {
      for (const to of [
        ["+911", "+912"],
        ["+913", "+914", "+915"],
        ["+916", "+917"],
      ])
        await world.sms({ to });
      for (const job of await world.claim(7)) await world.settle(job);
      return ["UPDATE", "contents", "OLD.messages = 3"];
    },
    run: (retention, now) => retention.wipeContents(now, 10),
  },
];

export function damagedUpkeepContract(open: OpenStore): void {
  for (const { name, told, fill, run } of UPKEEP)
    test(
      `${name} keeps no others, is named in the log, and goes once it can`,
      inWorld(open, async (world) => {
        const refused = await fill(world);
        world.clock.now += 2 * DAY;
        const runAll = async () => {
          const all = { count: 0, putOff: [] as string[] };
          for (let last = 1; last > 0; all.count += last) {
            const { value, putOff } = await untilPassed(() => run(world.store.retention, world.clock.now));
            last = value;
            all.putOff.push(...putOff);
          }
          return all;
        };
        const allow = await world.inside.refuse(...refused);
        const { putOff } = await runAll().finally(allow);
        expect(putOff).toEqual([expect.stringMatching(told)]);
        // By then, walks over old messages have begun anew as well.
        world.clock.now += 6 * HOUR;
        expect(await runAll()).toEqual({ count: 1, putOff: [] });
      }),
    );

  test(
    "an erasure of which a row cannot be erased is not called done until it is, and keeps no others waiting",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const [bad, good] = ["+14155550191", "+14155550192"];
      const [first = "", last = ""] = [
        ...(await world.sms({ to: [bad] })),
        ...(await world.sms({ to: [good] })),
      ];
      const texts = [bad, good].map((from) => ({ ...piece(world), from }));
      await store.inbound.receive(texts);
      const ask = (recipient: string) => {
        const request = { id: world.id(), salt: "s", digest: "d", createdAt: clock.now };
        return store.erasures.create({ ...request, recipient });
      };
      const [theirs, others] = [await ask(bad), await ask(good)];
      const isDone = async ({ id }: { id: string }) =>
        (await store.erasures.find(id))?.completedAt !== undefined;
      const isThere = async (id: string) =>
        (await store.messages.find({ accountId: account.id, channel: "sms", id })) !== undefined;
      const allow = await world.inside.refuse("DELETE", "inbound_messages", `OLD.sender = '${bad}'`);
      expect(await advanceAll(world).finally(allow)).toEqual([
        expect.stringMatching(/^erasure \S+, a part of it put off: .*damaged/),
      ]);
      expect([await isThere(first), await isThere(last)]).toEqual([false, false]);
      expect([await isDone(theirs), await isDone(others)]).toEqual([false, true]);
      clock.now += HOUR;
      expect([await advanceAll(world), await isDone(theirs)]).toEqual([[], true]);
    }),
  );

  test(
    "an erasure of which something is left is stored as where it failed, so that no process of the previous version completes it",
    inWorld(open, async (world) => {
      const { store, clock, inside } = world;
      await store.inbound.receive([{ ...piece(world), from: THEIRS }]);
      const request = { id: world.id(), recipient: THEIRS, salt: "s", digest: "d", createdAt: clock.now };
      await store.erasures.create(request);
      const allow = await inside.refuse("DELETE", "inbound_messages", `OLD.sender = '${THEIRS}'`);
      // It completes one that is beyond its last walk.
      const asBefore = () => inside.change("UPDATE erasures SET completed_at = 1 WHERE walk >= 100");
      for (let moved = 1; moved > 0; await asBefore())
        moved = (await untilPassed(() => store.erasures.advance(clock.now, 10))).value;
      await allow();
      expect(await store.erasures.find(request.id)).not.toHaveProperty("completedAt");
      clock.now += HOUR;
      await advanceAll(world);
      expect((await store.erasures.find(request.id))?.completedAt).toBe(clock.now);
    }),
  );

  test(
    "an erasure in one account takes the number out of a saved answer that could not be changed before its message was erased",
    inWorld(open, async (world) => {
      const { store, account, clock, inside } = world;
      const key = world.key("k");
      const [id = ""] = await world.sms({
        to: [THEIRS],
        idempotency: { ...key, answer: { status: 202, body: "x" } },
      });
      const body = `{"message_id":"${id}","status":"queued","to":"${THEIRS}"}`;
      await inside.change(`UPDATE idempotency_keys SET body = '${body}'`);
      const request = { id: world.id(), salt: "s", digest: "d", createdAt: clock.now };
      await store.erasures.create({ ...request, accountId: account.id, recipient: THEIRS });
      const allow = await inside.refuse("UPDATE", "idempotency_keys", "1 = 1");
      expect((await advanceAll(world).finally(allow)).length).toBe(1);
      expect(await store.messages.find({ id })).toBeUndefined();
      clock.now += HOUR;
      expect(await advanceAll(world)).toEqual([]);
      expect((await store.erasures.find(request.id))?.completedAt).toBe(clock.now);
      const saved = await store.intake.savedAnswer({ ...key, now: clock.now });
      expect(saved).toMatchObject({ body: body.replace(THEIRS, "erased") });
    }),
  );
}

const THEIRS = "+14155550193";
