import { expect, test } from "bun:test";
import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import { ERASED_ADDRESS } from "../../../core/messages/erasure.ts";
import type { Account, InboundNumber } from "../../../core/records/accounts.ts";
import { DAY, HOUR, inWorld, numberAll, type OpenStore, QUEUE, type World } from "../world.contract.ts";

const HANDSET = "+919800000001";
const OTHER = "+919800000002";
const NUMBER = "+14155550123";

/** What an erasure finds beside messages. */
export function erasedLeftoverContract(open: OpenStore): void {
  parkedReceipts(open);
  inbound(open);
  together(open);

  test(
    "the name of an erased recipient goes from an email to several, wherever it names them; the names of others stay",
    inWorld(open, async (world) => {
      const { store, account, id: newId, clock } = world;
      const asha = { email: "Asha@x.test", name: "Asha Rao" };
      const ravi = { email: "ravi@x.test", name: "Ravi" };
      const all = [asha, ravi];
      const parts = [...all, ...all, ...all].map(
        ({ email }) => ({ status: "pending", address: email }) as const,
      );
      const id = newId();
      const message = { id, recipient: "", status: "queued", parts, expiresAt: clock.now + DAY } as const;
      await store.intake.accept({
        accountId: account.id,
        flow: "single",
        content: { channel: "email", from: ravi, to: all, cc: all, bcc: all, subject: "hi", bodyText: "hi" },
        messages: [{ ...message, jobs: [{ queue: QUEUE }] }],
      });
      await erase(world, "asha@x.test");
      const left = [{ email: ERASED_ADDRESS }, ravi];
      const { content } = await world.message(id, "email");
      for (const field of ["to", "cc", "bcc"]) expect(content).toHaveProperty(field, left);
    }),
  );

  test(
    "a contact that is called by an erased number or address is called by nothing",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const names = [HANDSET, HANDSET.slice(1), "Asha@x.test", "\u00c9RIC@x.test", "asha@x.test.example"];
      for (const externalId of names) {
        const contact = { id: world.id(), accountId: account.id, externalId, createdAt: clock.now };
        await store.records.create("contacts", contact);
      }
      for (const recipient of [HANDSET, "asha@x.test", "\u00c9ric@x.test"]) await erase(world, recipient);
      const contacts = await store.records.list("contacts", { accountId: account.id }, { limit: 10 });
      expect(contacts.map(({ externalId }) => externalId)).toEqual([
        ...names.slice(0, 4).map(() => undefined),
        "asha@x.test.example",
      ]);
    }),
  );
}

function parkedReceipts(open: OpenStore): void {
  test(
    "receipts about an erased number that matched nothing go, however the provider writes the number",
    inWorld(open, async (world) => {
      for (const recipient of [HANDSET, HANDSET.slice(1), HANDSET.slice(3), OTHER]) {
        await world.receive(`unknown-${recipient}`, { recipient });
      }
      await world.receive("unknown", { raw: `UNDELIV ${HANDSET.slice(1)}` });
      await erase(world, HANDSET);
      expect(await world.store.receipts.countParked()).toBe(1);
    }),
  );

  test(
    "receipts whose words name an erased number go, with blanks or dashes in it too, and not those about a longer one",
    inWorld(open, async (world) => {
      const said = (message: string) => ({ error: { code: "receipt.failed", message } });
      await world.receive("unknown", said("cannot reach 98000 00001"));
      await world.receive("unknown", said("no route to +91 98000-00001."));
      await world.receive("unknown", { raw: "UNDELIV (0)98000/00001" });
      await world.receive("others", said("cannot reach 98000 000012, nor 398000 00001"));
      await erase(world, HANDSET);
      const left = await world.store.receipts.parked({ limit: 10 });
      expect(left.map(({ receipt }) => receipt.providerMessageId)).toEqual(["others"]);
    }),
  );

  test(
    "a receipt whose own id ends like an erased number stays, unless it says that it is about the number",
    inWorld(open, async (world) => {
      const id = HANDSET.slice(-7);
      const said = (to: string) => ({ ...(to && { recipient: to }), raw: `id:${id} stat:UNDELIV` });
      await world.receive("others", { raw: `id:${id} sub:001 stat:UNDELIV receipted_message_id=${id}` });
      await world.receive(id, said(OTHER));
      await world.receive(id, said(HANDSET.slice(3)));
      await world.receive("named", { raw: `id:${id} stat:UNDELIV ${id}` });
      await world.receive(`${HANDSET.slice(1)}-1`, said(""));
      await erase(world, HANDSET);
      const left = await world.store.receipts.parked({ limit: 10 });
      expect(left.map(({ receipt }) => receipt.providerMessageId)).toEqual(["others", id]);
    }),
  );

  test(
    "receipts about an erased address that matched nothing go, in whatever case it is written, and not those about a longer one",
    inWorld(open, async (world) => {
      const theirs = ["\u00c9ric@x.test", "\u00e9ric@X.test", '"A B"@x.test'];
      const others = ["fr\u00e9d\u00e9ric@x.test", "\u00e9ric@x.test.example"];
      for (const recipient of [...theirs, ...others])
        await world.receive(`unknown-${recipient}`, { recipient });
      await world.receive("unknown", { raw: "no such user: \u00c9ric@x.test" });
      for (const recipient of ["\u00c9ric@x.test", '"a b"@x.test']) await erase(world, recipient);
      const { receipts } = world.store;
      const left = await receipts.parked({ limit: 10 });
      expect(left.map(({ receipt }) => receipt.recipient)).toEqual(others);
    }),
  );

  test(
    "an erasure in one account takes them too, unless another account waits for word of that number",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const other = await world.addAccount();
      await world.sms({ account: other, to: [HANDSET] });
      const job = await world.claimOne();
      await world.receive("p-unknown", { recipient: HANDSET });
      await erase(world, HANDSET, account);
      expect(await store.receipts.countParked()).toBe(1);
      await world.settle(job);
      // One that is under way, to somebody else, and one to the number that nobody has attempted.
      await world.sms({ account: other, to: [OTHER] });
      await world.claimOne();
      await world.sms({ account: other, to: [HANDSET, OTHER] });
      await erase(world, HANDSET, account);
      expect(await store.receipts.countParked()).toBe(0);
      await world.receive("p-unknown", { recipient: HANDSET });
      await world.email({
        parts: [{ status: "pending", address: "ravi@x.test" }],
        jobs: [{ queue: "mail" }],
      });
      await world.claim(1, "mail");
      await erase(world, HANDSET, other);
      expect(await store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "an erasure in one account leaves receipts that came after it was asked for",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await store.erasures.create(requestOf(world, HANDSET, account));
      clock.now += HOUR;
      await world.receive("p-unknown", { recipient: HANDSET, receivedAt: clock.now });
      await work(world);
      expect(await store.receipts.countParked()).toBe(1);
    }),
  );
}

function inbound(open: OpenStore): void {
  test(
    "what a handset wrote goes, with its webhook and its event; what others wrote about it stays",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world, account);
      await store.records.setSettings(account.id, { inbound_url: "https://acme.test/in" });
      const theirs = await write(world, { text: "hello" });
      const others = await write(world, { from: OTHER, text: `ask ${HANDSET}` });
      expect(await world.inside.countRows(theirs)).toBeGreaterThan(0);
      await erase(world, HANDSET);
      expect(await world.inside.countRows(theirs)).toBe(0);
      const left = await store.inbound.list({ accountId: account.id, limit: 10 });
      expect(left.map(({ id }) => id)).toEqual([others]);
      await numberAll(world);
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 10 });
      expect(events).toHaveLength(1);
    }),
  );

  test(
    "parts of a long message from an erased number never become a message, also if only one account erases it",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const other = await world.addAccount();
      await map(world, account);
      await map(world, other, { number: "+14155550199" });
      // Another connector's messages to the same number.
      const beside = { id: "d", name: "d", kind: "smpp", config: {}, secrets: {}, isEnabled: true };
      await store.records.create("connectors", { ...beside, createdAt: 1 });
      await map(world, other, { connectorId: beside.id });
      const part = { reference: 7, total: 2, number: 1 };
      await write(world, { part, text: "half" });
      await write(world, { part, text: "half", to: "+14155550199" });
      await write(world, { part, text: "half", connectorId: beside.id });
      const [shared, another] = [8, 9].map((reference) => ({ ...part, reference }));
      await write(world, { part: shared!, text: "half", sharedAs: "c", connectorId: beside.id });
      await write(world, { part: another!, text: "of the account", sharedAs: beside.id });
      await erase(world, HANDSET, account);
      clock.now += DAY;
      await store.inbound.storeIncomplete(clock.now, 10);
      expect(await store.inbound.list({ accountId: account.id, limit: 10 })).toEqual([]);
      const left = await store.inbound.list({ accountId: other.id, limit: 10 });
      expect(left.map(({ text }) => text)).toEqual(["half…", "half…", "half…"]);
    }),
  );
}

function together(open: OpenStore): void {
  test(
    "several erasures asked for at once are all done, of the same recipient too",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const { sms } = world;
      const ids = (await sms({ to: [HANDSET, OTHER, HANDSET, NUMBER] })).concat(await sms({ to: [HANDSET] }));
      const requests = [
        requestOf(world, HANDSET, account),
        requestOf(world, OTHER),
        requestOf(world, HANDSET),
      ];
      await Promise.all(requests.map((request) => store.erasures.create(request)));
      await work(world, 2);
      const done = await store.erasures.list({ limit: 10 });
      expect(done.map(({ id }) => id).sort()).toEqual(requests.map(({ id }) => id).sort());
      expect(done.map(({ completedAt }) => completedAt)).toEqual([clock.now, clock.now, clock.now]);
      expect(done.reduce((sum, { erased }) => sum + erased, 0)).toBe(4);
      const found = await Promise.all(
        ids.map((id) => store.messages.find({ accountId: account.id, channel: "sms", id })),
      );
      expect(found.map((message) => message?.recipient)).toEqual([
        undefined,
        undefined,
        undefined,
        NUMBER,
        undefined,
      ]);
    }),
  );
}

async function map(world: World, account: Account, over: Partial<InboundNumber> = {}): Promise<void> {
  const number = { id: world.id(), accountId: account.id, number: NUMBER, createdAt: 1 };
  await world.store.records.create("inboundNumbers", { ...number, ...over });
}

/** The id of the message. */
async function write({ store, id, clock }: World, over: Partial<InboundPiece>): Promise<string> {
  const newId = id();
  const piece = {
    id: newId,
    connectorId: "c",
    from: HANDSET,
    to: NUMBER,
    text: "",
    encoding: "gsm7" as const,
  };
  const times = { receivedAt: clock.now, sameSince: clock.now - DAY };
  await store.inbound.receive([{ ...piece, ...times, key: newId, segments: 1, ...over }]);
  return newId;
}

function requestOf({ id, clock }: World, recipient: string, account?: Account) {
  const record = { id: id(), recipient, salt: "s".repeat(32), digest: "d".repeat(64), createdAt: clock.now };
  return { ...record, ...(account && { accountId: account.id }) };
}

async function erase(world: World, recipient: string, account?: Account): Promise<void> {
  await world.store.erasures.create(requestOf(world, recipient, account));
  await work(world);
}

/** @param callers how many at a time */
async function work({ store, clock }: World, callers = 1): Promise<void> {
  for (let steps = 0; steps < 500; steps++) {
    const calls = Array.from({ length: callers }, () => store.erasures.advance(clock.now, 10));
    if ((await Promise.all(calls)).every((moved) => moved === 0)) return;
  }
  throw new Error("erasing does not end");
}
