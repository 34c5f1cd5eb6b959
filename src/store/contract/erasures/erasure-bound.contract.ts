import { expect, test } from "bun:test";
import { DAY, HOUR, inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";

const THEIRS = "+919800000001";

/** What counts as accepted before an erasure, where clocks differ. */
export function erasureBoundContract(open: OpenStore): void {
  for (const ahead of [8 * SECOND, HOUR])
    test(
      `what was accepted before an erasure goes, though by a clock ${ahead / SECOND} s ahead of the erasure's`,
      inWorld(open, async (world) => {
        const { store, account, clock } = world;
        clock.now += ahead;
        const [theirs = ""] = await world.sms({ to: [THEIRS] });
        clock.now -= ahead;
        await erase(world);
        expect(
          await store.messages.find({ accountId: account.id, channel: "sms", id: theirs }),
        ).toBeUndefined();
        expect(await world.claim()).toEqual([]);
      }),
    );

  for (const [what, { add, left }] of Object.entries(KINDS))
    test(
      `${what} from before an erasure goes, though by a clock that is ahead of the erasure's`,
      inWorld(open, async (world) => {
        const { clock } = world;
        clock.now += HOUR;
        await add(world);
        clock.now -= HOUR;
        expect(await left(world)).toBe(true);
        await erase(world);
        expect(await left(world)).toBe(false);
      }),
    );

  test(
    "the clock of one message that is ahead makes an erasure take nothing that is accepted once it is done",
    inWorld(open, async (world) => {
      const { clock } = world;
      clock.now += HOUR;
      await world.sms({ to: [THEIRS] });
      clock.now -= HOUR;
      await erase(world);
      const [later = ""] = await world.sms({ to: [THEIRS] });
      await work(world);
      expect(await world.status(later)).toBe("queued");
    }),
  );
}

interface Kind {
  add(world: World): Promise<unknown>;
  /** Whether it still names the number. */
  left(world: World): Promise<boolean>;
}

const KINDS: Readonly<Record<string, Kind>> = {
  "a number in a saved answer": {
    async add(world) {
      const body = `{"message_id":"${world.id()}","status":"queued","to":"${THEIRS}"}`;
      const idempotency = { ...world.key("k"), answer: { status: 202, body } };
      await world.sms({ to: [THEIRS], idempotency });
    },
    left: async (world) =>
      JSON.stringify(await world.store.intake.savedAnswer(world.key("k"))).includes(THEIRS),
  },
  "a message from the handset": {
    async add({ store, account, clock, id }) {
      const piece = {
        id: id(),
        connectorId: "c",
        accountId: account.id,
        from: THEIRS,
        to: "12345",
        text: "hi",
      };
      const rest = { encoding: "gsm7", segments: 1, key: id(), sameSince: clock.now - DAY } as const;
      await store.inbound.receive([{ ...piece, ...rest, receivedAt: clock.now }]);
    },
    left: async ({ store, account }) =>
      (await store.inbound.list({ accountId: account.id, limit: 1 })).length > 0,
  },
  "what the simulator shows": {
    async add({ store, account, clock, id }) {
      const ids = { id: id(), accountId: account.id, messageId: id() };
      const entry = { channel: "sms", to: THEIRS, receivedAt: clock.now, rendered: {} } as const;
      await store.sandbox.record([{ ...ids, ...entry }]);
    },
    left: async ({ store }) => (await store.sandbox.list({ limit: 1 })).length > 0,
  },
  "a contact's name": {
    add: ({ store, account, clock, id }) =>
      store.records.create("contacts", {
        id: id(),
        accountId: account.id,
        externalId: THEIRS,
        createdAt: clock.now,
      }),
    async left({ store, account }) {
      const [contact] = await store.records.list("contacts", { accountId: account.id }, { limit: 1 });
      return contact?.externalId !== undefined;
    },
  },
};

async function erase(world: World): Promise<void> {
  const { store, id, clock } = world;
  const record = { id: id(), salt: "s".repeat(32), digest: "d".repeat(64), createdAt: clock.now };
  await store.erasures.create({ ...record, recipient: THEIRS });
  await work(world);
}

async function work({ store, clock }: World): Promise<void> {
  for (let steps = 0; steps < 500; steps++) if ((await store.erasures.advance(clock.now, 10)) === 0) return;
  throw new Error("erasing does not end");
}
