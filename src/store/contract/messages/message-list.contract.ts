import { expect, test } from "bun:test";
import type { MessageQuery } from "../../store.ts";
import { inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";

export function messageListContract(open: OpenStore): void {
  test(
    "messages are listed newest first, a page at a time, of one account and channel",
    inWorld(open, async (world) => {
      const ids = await world.sms({ to: ["+911", "+912", "+913", "+914", "+915"] });
      await world.sms({ account: await world.addAccount() });
      const mail = await world.email({ parts: [{ status: "pending", address: "a@x.test" }], jobs: [] });
      const newest = ids.toReversed();
      const first = await page(world, { limit: 2 });
      expect(first.ids).toEqual(newest.slice(0, 2));
      const second = await page(world, { limit: 2, before: first.next! });
      expect(second.ids).toEqual(newest.slice(2, 4));
      const third = await page(world, { limit: 2, before: second.next! });
      expect(third).toEqual({ ids: newest.slice(4), next: undefined });
      expect((await page(world, { channel: "email" })).ids).toEqual([mail]);
    }),
  );

  test(
    "a message is found by its id alone, or only if it is of a given account and channel",
    inWorld(open, async (world) => {
      const other = await world.addAccount();
      const [sms = ""] = await world.sms({ account: other });
      const email = await world.email({ parts: [{ status: "pending", address: "a@x.test" }], jobs: [] });
      const { find, timeline } = world.store.messages;
      const channelOf = async (id: string) => (await find({ id }))?.progress.channel;
      expect([(await find({ id: sms }))?.accountId, await channelOf(sms)]).toEqual([other.id, "sms"]);
      expect([(await find({ id: email }))?.accountId, await channelOf(email)]).toEqual([
        world.account.id,
        "email",
      ]);
      const wrong = [
        { id: world.id() },
        { id: "no id" },
        { id: sms, accountId: world.account.id },
        { id: sms, accountId: "nobody" },
        { id: email, channel: "sms" },
      ] as const;
      for (const query of wrong)
        expect([await find(query), await timeline(query)]).toEqual([undefined, undefined]);
      expect(await find({ id: sms, accountId: other.id })).toEqual(await find({ id: sms, channel: "sms" }));
    }),
  );

  test(
    "a listed message is the one that is found by its id",
    inWorld(open, async (world) => {
      const [one = ""] = await world.sms({ content: { metadata: { a: 1 } } });
      const [two = ""] = await world.sms({ content: { metadata: { a: 2 } } });
      const { messages } = await list(world, {});
      expect(messages).toEqual([await world.message(two), await world.message(one)]);
      expect(messages.map(({ content }) => content.metadata)).toEqual([{ a: 2 }, { a: 1 }]);
    }),
  );

  test(
    "filters by status, tag, number and time narrow the list, together too",
    inWorld(open, async (world) => {
      const { clock } = world;
      const start = clock.now;
      const [tagged = ""] = await world.sms({ content: { tags: ["promo"] } });
      clock.now += SECOND;
      const [one = "", two = ""] = await world.sms({ to: ["+911", "+912"] });
      for (const job of await world.claim(1)) await world.settle(job);
      const ids = async (over: Partial<MessageQuery>) => (await page(world, over)).ids;
      expect(await ids({ status: "sent" })).toEqual([tagged]);
      expect(await ids({ status: "queued" })).toEqual([two, one]);
      expect(await ids({ tag: "promo" })).toEqual([tagged]);
      expect(await ids({ tag: "pro" })).toEqual([]);
      expect(await ids({ recipient: "+912" })).toEqual([two]);
      expect(await ids({ recipient: "+912", status: "queued", tag: "otp" })).toEqual([two]);
      expect(await ids({ recipient: "+912", status: "sent" })).toEqual([]);
      expect(await ids({ createdFrom: start + 1 })).toEqual([two, one]);
      expect(await ids({ createdBefore: start + SECOND })).toEqual([tagged]);
      expect(await ids({ createdFrom: start + 1, createdBefore: start + SECOND })).toEqual([]);
    }),
  );

  test(
    "an email is found by any of its recipients, in any case",
    inWorld(open, async (world) => {
      const addresses = ["Asha@X.test", "b_b@x.test"];
      const parts = addresses.map((address) => ({ status: "pending", address }) as const);
      const id = await world.email({ parts, jobs: [] });
      const found = async (recipient: string) => (await page(world, { channel: "email", recipient })).ids;
      expect(await found("asha@x.test")).toEqual([id]);
      expect(await found("b_b@x.test")).toEqual([id]);
      for (const other of ["bxb@x.test", "sha@x.test", "asha@x.tes"]) expect(await found(other)).toEqual([]);
    }),
  );

  test(
    "an email to an international domain is found in every spelling, in whichever it was sent",
    inWorld(open, async (world) => {
      const spellings = ["bücher.example", "xn--bcher-kva.example", "bücher.example".normalize("NFD")];
      const ids: string[] = [];
      for (const domain of [...spellings, "Bücher.Example", "BÜCHER.example", "bucher.example"]) {
        const parts = [{ status: "pending", address: `Info@${domain}` } as const];
        ids.unshift(await world.email({ parts, jobs: [] }));
      }
      const found = async (recipient: string) => (await page(world, { channel: "email", recipient })).ids;
      for (const domain of [...spellings, "BÜCHER.EXAMPLE"]) {
        expect(await found(`info@${domain}`)).toEqual(ids.slice(1));
        expect(await found(`nfo@${domain}`)).toEqual([]);
      }
      expect(await found("info@bucher.example")).toEqual(ids.slice(0, 1));
    }),
  );

  test(
    "every page is bounded: what is rare is found over several, and nothing twice",
    inWorld(open, async (world) => {
      const [first = ""] = await world.sms({ to: ["+999"], content: { tags: ["rare"] } });
      const to = Array.from({ length: 1_000 }, (_, index) => `+91${index}`);
      for (let i = 0; i < 5; i++) await world.sms({ to });
      const [last = ""] = await world.sms({ to: ["+999"], content: { tags: ["rare"] } });
      for (const filter of [{ tag: "rare" }, { recipient: "+999" }, { recipient: "+999", tag: "rare" }]) {
        expect(await walk(world, filter)).toEqual([last, first]);
      }
      expect((await walk(world, { limit: 200 })).length).toBe(5_002);
    }),
  );

  test(
    "a page is cut short where the contents are large, never to nothing",
    inWorld(open, async (world) => {
      const metadata = { long: "x".repeat(700_000) };
      const ids = await world.sms({ to: ["+911", "+912", "+913"], content: { metadata } });
      const first = await page(world, { limit: 3 });
      expect(first.ids.length).toBeLessThan(3);
      expect(first.ids.length).toBeGreaterThan(0);
      expect(await walk(world, { limit: 3 })).toEqual(ids.toReversed());
      expect(await walk(world, { limit: 3, tag: "none" })).toEqual([]);
    }),
  );
}

function list({ store, account }: World, over: Partial<MessageQuery>) {
  return store.messages.list({ accountId: account.id, channel: "sms", limit: 50, createdFrom: 0, ...over });
}

async function page(world: World, over: Partial<MessageQuery>) {
  const { messages, next } = await list(world, over);
  return { ids: messages.map((message) => message.id), next };
}

async function walk(world: World, over: Partial<MessageQuery>): Promise<readonly string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const found = await page(world, { ...over, ...(before !== undefined && { before }) });
    ids.push(...found.ids);
    if (found.next === undefined) return ids;
    before = found.next;
  }
  throw new Error("the list does not end");
}
