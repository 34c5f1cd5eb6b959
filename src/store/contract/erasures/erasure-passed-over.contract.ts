import { expect, test } from "bun:test";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { untilPassed } from "../damaged-row.contract.ts";
import { piece } from "../inbound/inbound.contract.ts";
import { HOUR, inWorld, type OpenStore, type World } from "../world.contract.ts";

const THEIRS = "+14155550193";

/** A table of which three rows name the recipient. */
interface Traces {
  readonly table: string;
  /** Stores them, and says which change of the second one is refused. */
  readonly leave: (world: World) => Promise<Parameters<World["inside"]["refuse"]>>;
  /** How many name the recipient still. */
  readonly count: (world: World) => Promise<number>;
}

const KEYS = ["first", "second", "third"] as const;

const TRACES: readonly Traces[] = [
  {
    table: "messages",
    async leave(world) {
      const [, second] = await world.sms({ to: [THEIRS, THEIRS, THEIRS] });
      return ["DELETE", "messages", `OLD.id = '${second}'`];
    },
    count: async ({ store, account }) =>
      (await store.messages.list({ accountId: account.id, channel: "sms", limit: 9, createdFrom: 0 }))
        .messages.length,
  },
  {
    table: "idempotency_keys",
    async leave(world) {
      for (const key of KEYS) {
        const body = `{"message_id":"${world.id()}","status":"queued","to":"${THEIRS}","text":"${key}"}`;
        await world.sms({
          to: ["+14155550194"],
          idempotency: { ...world.key(key), answer: { status: 202, body } },
        });
      }
      return ["UPDATE", "idempotency_keys", "OLD.body LIKE '%second%'"];
    },
    async count({ store, key, clock }) {
      const saved = await Promise.all(
        KEYS.map((each) => store.intake.savedAnswer({ ...key(each), now: clock.now })),
      );
      return saved.filter((each) => JSON.stringify(each).includes(THEIRS)).length;
    },
  },
  {
    table: "parked_receipts",
    async leave(world) {
      for (const key of KEYS) await world.receive(key, { recipient: THEIRS });
      return ["DELETE", "parked_receipts", "OLD.id_key = 'SECOND'"];
    },
    count: ({ store }) => store.receipts.countParked(),
  },
  {
    table: "sandbox_messages",
    async leave({ store, account, clock, id }) {
      const ids = KEYS.map(() => id());
      const entry = { accountId: account.id, channel: "sms", receivedAt: clock.now, to: THEIRS } as const;
      await store.sandbox.record(ids.map((each) => ({ ...entry, id: each, messageId: id(), rendered: {} })));
      return ["DELETE", "sandbox_messages", `OLD.id = '${ids[1]}'`];
    },
    count: async ({ store }) => (await store.sandbox.list({ limit: 9 })).length,
  },
  {
    table: "inbound_messages",
    async leave(world) {
      await world.store.inbound.receive(
        KEYS.map((text) => ({ ...piece(world), accountId: world.account.id, from: THEIRS, text })),
      );
      return ["DELETE", "inbound_messages", "OLD.text = 'second'"];
    },
    count: async ({ store, account }) =>
      (await store.inbound.list({ accountId: account.id, limit: 9 })).length,
  },
  {
    table: "contacts",
    async leave(world) {
      const accounts = await threeAccounts(world);
      for (const accountId of accounts)
        await world.store.records.create("contacts", {
          id: world.id(),
          accountId,
          externalId: THEIRS,
          createdAt: world.clock.now,
        });
      return ["UPDATE", "contacts", `OLD.account_id = '${accounts[1]}'`];
    },
    async count({ store }) {
      const all = await store.records.list("contacts", {}, { limit: 9 });
      return all.filter(({ externalId }) => externalId !== undefined).length;
    },
  },
  {
    table: "suppressions",
    async leave(world) {
      const accounts = await threeAccounts(world);
      const entry = { email: THEIRS, reason: "manual", createdAt: world.clock.now } as const;
      await world.store.suppressions.add(
        accounts.map((accountId) => ({ ...entry, id: world.id(), accountId })),
      );
      return ["DELETE", "suppressions", `OLD.account_id = '${accounts[1]}'`];
    },
    async count({ store }) {
      const all = await store.records.list("suppressions", {}, { limit: 9 });
      return all.filter(({ email }) => email === THEIRS).length;
    },
  },
  {
    table: "opt_outs",
    async leave({ store, account, id, clock }) {
      const entry = { accountId: account.id, recipient: THEIRS, reason: "r", createdAt: clock.now };
      for (const sender of KEYS) await store.records.create("optOuts", { ...entry, id: id(), sender });
      return ["UPDATE", "opt_outs", "OLD.sender = 'second'"];
    },
    async count({ store }) {
      const all = await store.records.list("optOuts", {}, { limit: 9 });
      return all.filter(({ recipient }) => recipient === THEIRS).length;
    },
  },
];

async function threeAccounts({ account, addAccount }: World): Promise<readonly string[]> {
  return [account.id, (await addAccount()).id, (await addAccount()).id];
}

/** An erasure meets a row that it cannot erase: whatever lies behind that in its table is erased. */
export function erasurePassedOverContract(open: OpenStore): void {
  for (const { table, leave, count } of TRACES)
    test(
      `a row of ${table} that cannot be erased keeps no other stored, is counted, and is erased once it can be`,
      inWorld(open, async (world) => {
        const refused = await leave(world);
        expect(await count(world)).toBe(3);
        const request = { id: world.id(), salt: "s", digest: "d", createdAt: world.clock.now };
        await world.store.erasures.create({ ...request, recipient: THEIRS });
        const allow = await world.inside.refuse(...refused);
        const said = await advanceAll(world).finally(allow);
        expect(said).toEqual([expect.stringMatching(/^erasure \S+, a part of it put off: .*damaged/)]);
        expect(await count(world)).toBe(1);
        const shown = await world.store.erasures.find(request.id);
        expect(shown).toMatchObject({ passedOver: 1 });
        expect(shown).not.toHaveProperty("completedAt");
        expect((await world.store.erasures.list({ limit: 1 }))[0]).toEqual(shown);
        world.clock.now += HOUR;
        expect(await advanceAll(world)).toEqual([]);
        expect(await count(world)).toBe(0);
        const done = await world.store.erasures.find(request.id);
        expect(done).toMatchObject({ completedAt: world.clock.now });
        expect(done).not.toHaveProperty("passedOver");
      }),
    );

  test(
    "an erasure whose end cannot be stored is told of once, waits for an hour, and ends once it can",
    inWorld(open, async (world) => {
      const [, row] = await world.sms({ to: [THEIRS, THEIRS, THEIRS] });
      const request = { id: world.id(), salt: "s", digest: "d", createdAt: world.clock.now };
      await world.store.erasures.create({ ...request, recipient: THEIRS });
      const allowEnd = await world.inside.refuse("INSERT", "meta", "NEW.name LIKE 'passed_over %'");
      const allowRow = await world.inside.refuse("DELETE", "messages", `OLD.id = '${row}'`);
      const part = expect.stringMatching(/^erasure \S+, a part of it put off: .*damaged/);
      const end = expect.stringMatching(/^the end of erasure \S+, put off for 3600 s: .*damaged/);
      for (let hours = 0; hours < 2; hours++) {
        expect(await advanceAll(world)).toEqual([part, end]);
        expect(await advanceAll(world)).toEqual([]);
        world.clock.now += HOUR;
      }
      await allowEnd();
      expect(await advanceAll(world)).toEqual([part]);
      expect(await world.store.erasures.find(request.id)).toMatchObject({ passedOver: 1 });
      await allowRow();
      world.clock.now += HOUR;
      expect(await advanceAll(world)).toEqual([]);
      expect(await world.store.erasures.find(request.id)).toMatchObject({ completedAt: world.clock.now });
    }),
  );

  test(
    "an erasure that cannot be changed itself, so that whatever it meets is passed over, is told of once, and then of once a minute",
    inWorld(open, async (world) => {
      const messages = await world.sms({ to: Array(100).fill(THEIRS) });
      const request = { id: world.id(), salt: "s", digest: "d", createdAt: world.clock.now };
      await world.store.erasures.create({ ...request, recipient: THEIRS });
      const allow = await world.inside.refuse("UPDATE", "erasures", "OLD.created_at > 0");
      const told = (parts: string) =>
        expect.stringMatching(new RegExp(`^erasure \\S+, ${parts} of it put off: .*damaged`));
      const rows = messages.length / 2;
      expect(await advanceTimes(world, rows)).toEqual([told("a part")]);
      world.clock.now += MINUTE_MS;
      expect(await advanceTimes(world, rows)).toEqual([told(`${rows} parts`)]);
      expect(await advanceAll(world)).toEqual([]);
      const { passedOver = 0 } = (await world.store.erasures.find(request.id)) ?? {};
      expect(passedOver).toBeGreaterThan(messages.length);
      world.clock.now += HOUR;
      expect(await advanceAll(world)).toEqual([told("a part")]);
      await allow();
      world.clock.now += HOUR;
      expect(await advanceAll(world)).toEqual([]);
      expect(await world.store.erasures.find(request.id)).toMatchObject({ completedAt: world.clock.now });
    }),
  );
}

/** Goes on with erasures so many times; resolves with what was put off. */
async function advanceTimes({ store, clock }: World, times: number): Promise<readonly string[]> {
  const all: string[] = [];
  for (let time = 0; time < times; time++) {
    await store.erasures.advance(clock.now, 10).catch((error: Error) => all.push(error.message));
  }
  return all;
}

/** Goes on with erasures as long as there is something to do; resolves with what was put off. */
export async function advanceAll({ store, clock }: World): Promise<readonly string[]> {
  const all: string[] = [];
  for (let moved = 1; moved > 0; ) {
    const { value, putOff } = await untilPassed(() => store.erasures.advance(clock.now, 10));
    all.push(...putOff);
    moved = value;
  }
  return all;
}
