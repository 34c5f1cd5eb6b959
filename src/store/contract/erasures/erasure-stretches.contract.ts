import { expect, test } from "bun:test";
import type { Account } from "../../../core/records/accounts.ts";
import { DAY, HOUR, inWorld, numberAll, type OpenStore, QUEUE, SMS, type World } from "../world.contract.ts";

const HANDSET = "+919800000001";
const OTHER = "+919800000002";
const NUMBER = "+14155550123";
const ADDRESS = "asha@x.test";

/** An erasure goes through each table in stretches. Whatever lies at the end of one is not missed. */
export function erasureStretchContract(open: OpenStore): void {
  test(
    "an erasure in stretches of one row or two misses nothing",
    inWorld(open, async (world) => {
      for (const looks of [1, 2]) {
        const account = await world.addAccount();
        for (let count = 0; count < 4; count++) await leaveTraces(world, account, `${count}`);
        expect(await tracesOf(world, account)).toEqual([4, 4, 4, 4, 4, 4]);
        await ask(world, HANDSET);
        await work(world, looks);
        expect(await tracesOf(world, account)).toEqual([0, 0, 0, 0, 0, 0]);
      }
    }),
  );

  test(
    "a message at the very end of a stretch is found",
    inWorld(open, async (world) => {
      const to = Array.from({ length: 42 }, (_, index) => (index % 21 === 20 ? HANDSET : OTHER));
      const ids = await world.sms({ to });
      await ask(world, HANDSET);
      await work(world, 20);
      const { store, account } = world;
      const found = await Promise.all(
        ids.map((id) => store.messages.find({ accountId: account.id, channel: "sms", id })),
      );
      expect(found.filter(Boolean)).toHaveLength(40);
      expect(found.map((message) => message?.recipient)).not.toContain(HANDSET);
    }),
  );

  test(
    "an erasure ends however much has come since, and leaves it",
    inWorld(open, async (world) => {
      const { account, clock } = world;
      await leaveTraces(world, account, "old");
      await ask(world, HANDSET);
      clock.now += HOUR;
      for (let count = 0; count < 4; count++) await leaveTraces(world, account, `${count}`);
      await work(world, 2);
      expect((await world.store.erasures.list({ limit: 1 }))[0]?.completedAt).toBe(clock.now);
      // Opt-outs name nobody any more, and parked receipts about the number go, whenever they came.
      expect(await tracesOf(world, account)).toEqual([4, 4, 4, 0, 4, 0]);
    }),
  );

  test(
    "an inbound message that came after an erasure was asked for stays in the feed",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await leaveTraces(world, account, "old");
      await ask(world, HANDSET);
      clock.now += 1;
      await leaveTraces(world, account, "0");
      await work(world, 2);
      await numberAll(world);
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 10 });
      expect(events).toMatchObject([{ kind: "other", at: clock.now }]);
    }),
  );

  test(
    "of two erasures the one that was asked for first is done first",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      for (const recipient of [HANDSET, OTHER]) await ask(world, recipient);
      const completed = async () => (await store.erasures.list({ limit: 2 })).map((each) => each.completedAt);
      while ((await completed()).every((at) => at === undefined)) await store.erasures.advance(clock.now, 10);
      expect(await completed()).toEqual([clock.now, undefined]);
    }),
  );

  test(
    "many accounts that have nothing of the recipient are passed over at once",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      for (let count = 0; count < 30; count++) await world.addAccount();
      const last = await world.addAccount();
      await world.sms({ account: last, to: [OTHER, HANDSET] });
      await ask(world, HANDSET);
      let stretches = 0;
      while ((await store.erasures.advance(clock.now, 1_000)) > 0) stretches++;
      expect(stretches).toBeLessThan(30);
      expect((await store.erasures.list({ limit: 1 }))[0]).toMatchObject({
        erased: 1,
        completedAt: clock.now,
      });
    }),
  );

  ofOneAccount(open);
  ofSandbox(open);
}

function ofOneAccount(open: OpenStore): void {
  test(
    "an erasure in one account leaves answers that were saved for another",
    inWorld(open, async (world) => {
      const { account } = world;
      const other = await world.addAccount();
      for (const each of [account, other]) await leaveTraces(world, each, each.id);
      await ask(world, HANDSET, account);
      await work(world, 2);
      expect((await tracesOf(world, account))[4]).toBe(0);
      expect((await tracesOf(world, other))[4]).toBe(1);
    }),
  );

  for (const which of ["older", "newer"] as const) {
    test(
      `word that the ${which} of two accounts waits for is left, wherever its job lies`,
      inWorld(open, async (world) => {
        const second = await world.addAccount();
        const [own, other] = which === "newer" ? [world.account, second] : [second, world.account];
        await world.sms({ account: own, to: [OTHER, OTHER] });
        await world.sms({ account: other, to: [HANDSET] });
        expect(await world.claim()).toHaveLength(3);
        await world.receive("p-unknown", { recipient: HANDSET });
        await ask(world, HANDSET, own);
        await work(world, 2);
        expect((await world.store.erasures.list({ limit: 1 }))[0]?.completedAt).toBeDefined();
        expect(await world.store.receipts.countParked()).toBe(1);
      }),
    );
  }
}

function ofSandbox(open: OpenStore): void {
  const entry = ({ id, account, clock }: World, messageId: string, to: string) => ({
    id: id(),
    accountId: account.id,
    messageId,
    channel: "email" as const,
    to,
    receivedAt: clock.now,
  });

  test(
    "a mail of the simulator that names the address goes, in capitals too, though its message is gone",
    inWorld(open, async (world) => {
      const rendered = { source: "To: <ASHA@X.test>\r\n\r\nhi" };
      await world.store.sandbox.record([{ ...entry(world, world.id(), "ravi@x.test"), rendered }]);
      await ask(world, ADDRESS);
      await work(world, 10);
      expect(await world.store.sandbox.list({ limit: 10 })).toEqual([]);
    }),
  );

  test(
    "a mail of the simulator to an address with quotes goes, though its message is gone",
    inWorld(open, async (world) => {
      const rendered = { to: [{ email: '"A B"@x.test' }] };
      await world.store.sandbox.record([{ ...entry(world, world.id(), '"A B"@x.test'), rendered }]);
      await ask(world, '"a b"@x.test');
      await work(world, 10);
      expect(await world.store.sandbox.list({ limit: 10 })).toEqual([]);
    }),
  );

  test(
    "what the simulator keeps about a longer address or number stays",
    inWorld(open, async (world) => {
      const mail = {
        ...entry(world, world.id(), "natasha@x.test"),
        rendered: { source: "To: <NATASHA@x.test>" },
      };
      const text = { ...entry(world, world.id(), OTHER), rendered: { text: `call ${HANDSET}9` } };
      await world.store.sandbox.record([mail, { ...text, channel: "sms" }]);
      for (const recipient of [ADDRESS, HANDSET]) await ask(world, recipient);
      await work(world, 10);
      expect(await world.store.sandbox.list({ limit: 10 })).toHaveLength(2);
    }),
  );

  test(
    "a mail of the simulator goes with its message, though nothing in it names the recipient as the erasure does",
    inWorld(open, async (world) => {
      const parts = [{ status: "pending", address: "Asha@x.test" }] as const;
      const messageId = await world.email({ parts, jobs: [{ queue: QUEUE }] });
      const rendered = { source: "hi" };
      await world.store.sandbox.record([{ ...entry(world, messageId, "Asha@x.test"), rendered }]);
      await ask(world, ADDRESS);
      await work(world, 10);
      expect(await world.store.sandbox.list({ limit: 10 })).toEqual([]);
    }),
  );
}

/** One row about the number in each table that an erasure goes through. */
async function leaveTraces(world: World, account: Account, name: string): Promise<void> {
  const { store, id, clock } = world;
  const accountId = account.id;
  const times = { receivedAt: clock.now, sameSince: clock.now - DAY };
  const piece = { id: id(), connectorId: "c", from: HANDSET, to: NUMBER, text: "hi", accountId, ...times };
  await store.inbound.receive([{ ...piece, encoding: "gsm7", segments: 1, key: piece.id }]);
  const shown = { id: id(), accountId, messageId: id(), channel: "sms" as const, receivedAt: clock.now };
  await store.sandbox.record([{ ...shown, to: HANDSET, rendered: { text: "hi" } }]);
  await acceptWithKey(world, account, name);
  const optOut = { id: id(), accountId, sender: `S${name}`, recipient: HANDSET, reason: "r" };
  await store.records.create("optOuts", { ...optOut, createdAt: clock.now });
  await world.receive(`p-${accountId}-${name}`, { recipient: HANDSET });
}

/** In the order: inbound, sandbox, messages, opt-outs that name it, answers that name it, parked receipts. */
async function tracesOf({ store, clock }: World, { id: accountId }: Account): Promise<readonly number[]> {
  const limit = 100;
  const { messages } = await store.messages.list({ accountId, channel: "sms", limit, createdFrom: 0 });
  const keys = ["old", "0", "1", "2", "3", accountId].map((key) => ({
    ...keyOf(accountId, key),
    now: clock.now,
  }));
  const answers = await Promise.all(keys.map((key) => store.intake.savedAnswer(key)));
  const lists = [
    await store.inbound.list({ accountId, limit }),
    await store.sandbox.list({ accountId, limit }),
    messages,
    (await store.records.list("optOuts", { accountId }, { limit })).filter(
      (each) => each.recipient === HANDSET,
    ),
    answers.filter((answer) => JSON.stringify(answer)?.includes(HANDSET)),
    (await store.receipts.parked({ limit })).filter(({ receipt }) =>
      receipt.providerMessageId.includes(accountId),
    ),
  ];
  return lists.map(({ length }) => length);
}

function keyOf(accountId: string, key: string) {
  return { scope: `${accountId} sms`, key };
}

async function acceptWithKey({ store, id, clock }: World, { id: accountId }: Account, key: string) {
  const message = { id: id(), recipient: HANDSET, status: "queued" as const, parts: [] };
  const body = `{"message_id":"${message.id}","status":"queued","to":"${HANDSET}"}`;
  const times = { now: clock.now, expiresAt: clock.now + DAY };
  await store.intake.accept({
    accountId,
    flow: "single",
    content: SMS,
    messages: [{ ...message, expiresAt: clock.now + DAY, jobs: [{ queue: QUEUE }] }],
    idempotency: { ...keyOf(accountId, key), ...times, bodyDigest: "d", answer: { status: 202, body } },
  });
}

async function ask({ store, id, clock }: World, recipient: string, account?: Account): Promise<void> {
  const record = { id: id(), recipient, salt: "s", digest: "d", createdAt: clock.now };
  await store.erasures.create({ ...record, ...(account && { accountId: account.id }) });
}

async function work({ store, clock }: World, looks: number): Promise<void> {
  for (let steps = 0; steps < 1_000; steps++)
    if ((await store.erasures.advance(clock.now, looks)) === 0) return;
  throw new Error("erasing does not end");
}
