import { expect, test } from "bun:test";
import type { Domain } from "../../../core/domains/domain.ts";
import { ERASED_ADDRESS, isErased, lowerAscii } from "../../../core/messages/erasure.ts";
import type { Suppression } from "../../../core/records/accounts.ts";
import { DAY, inWorld, type OpenStore, type World } from "../world.contract.ts";

const UNICODE = "a@bücher.example";
const ASCII = "a@xn--bcher-kva.example";
const DECOMPOSED = UNICODE.normalize("NFD");
const SPELLINGS = [UNICODE, ASCII, DECOMPOSED];

/** An international domain has several spellings, and its mailboxes are one each. */
export function addressSpellingContract(open: OpenStore): void {
  oneOnTheList(open);
  oneThatIsErased(open);
  oneInCapitals(open);
  oneDomain(open);
}

function oneDomain(open: OpenStore): void {
  test(
    "a sender's domain is found by any spelling, in whichever it is stored, and cannot be made twice in one account",
    inWorld(open, async (world) => {
      const { store, account, addAccount } = world;
      const { records } = store;
      const other = await addAccount();
      const names = SPELLINGS.map((address) => address.slice(2));
      for (const stored of names) {
        const row = domainOf(world, stored);
        await records.create("domains", row);
        for (const domain of names) {
          expect(await records.find("domains", { accountId: account.id, domain })).toEqual(row);
          expect(await records.list("domains", { domain }, { limit: 10 })).toEqual([row]);
          expect(await records.create("domains", domainOf(world, domain))).toEqual({ conflict: "domain" });
        }
        const elsewhere = { ...domainOf(world, stored), accountId: other.id };
        expect(await records.create("domains", elsewhere)).toBe("created");
        for (const { id } of [row, elsewhere]) await records.remove("domains", id);
      }
    }),
  );
}

function oneOnTheList(open: OpenStore): void {
  test(
    "an address of an international domain is suppressed in every spelling, in whichever it was added or is stored",
    inWorld(open, async (world) => {
      for (const stored of SPELLINGS) {
        await world.store.records.create("suppressions", entryOf(world, stored));
        expect(await found(world)).toEqual([...SPELLINGS].sort());
        await removeAll(world);
        await add(world, stored);
        expect(await found(world)).toEqual([...SPELLINGS].sort());
        await removeAll(world);
      }
    }),
  );

  test(
    "it is on the list once: what is added in another spelling is the same entry, one stored long ago included",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      for (const stored of SPELLINGS) {
        await store.records.create("suppressions", {
          ...entryOf(world, stored),
          expiresAt: clock.now + 2 * DAY,
        });
        for (const spelling of SPELLINGS) {
          expect(await add(world, spelling, { expiresAt: clock.now + DAY })).toBe(0);
        }
        expect(await add(world, ASCII, { reason: "complaint" })).toBe(1);
        const listed = await store.records.list("suppressions", { accountId: account.id }, { limit: 10 });
        expect(listed.map(({ reason }) => reason)).toEqual(["complaint"]);
        await removeAll(world);
      }
    }),
  );

  test(
    "it is found by any spelling, and cannot be made twice",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const of = { accountId: account.id };
      for (const stored of SPELLINGS) {
        const entry = entryOf(world, stored);
        await store.records.create("suppressions", entry);
        for (const email of SPELLINGS) {
          expect((await store.records.find("suppressions", { ...of, email }))?.id).toBe(entry.id);
          expect(await store.records.create("suppressions", entryOf(world, email))).toEqual({
            conflict: "email",
          });
        }
        await removeAll(world);
      }
    }),
  );

  test(
    "soft bounces of an address count together, however each message spells it",
    inWorld(open, async (world) => {
      for (const address of SPELLINGS) {
        const id = await world.email({
          parts: [{ status: "pending", address }],
          jobs: [{ queue: "queue-a" }],
        });
        await world.settle(await world.claimOne());
        await world.receive("", {
          target: { messageId: id, part: 0 },
          status: "bounced",
          suppress: "soft_bounce",
        });
        world.clock.now += DAY;
      }
      expect(await found(world)).toEqual([...SPELLINGS].sort());
    }),
  );
}

function oneThatIsErased(open: OpenStore): void {
  test(
    "messages and suppressions of an erased address are forgotten in every spelling, and the suppression stays in force",
    inWorld(open, async (world) => {
      for (const asked of SPELLINGS) {
        const written = [...SPELLINGS, "a@Bücher.Example", "a@BÜCHER.example"];
        const ids: string[] = [];
        for (const address of written) ids.push(await emailTo(world, [address]));
        const shared = await emailTo(world, ["ravi@x.test", ...written]);
        await world.store.records.create("suppressions", entryOf(world, ASCII));
        await erase(world, asked);
        for (const id of ids) {
          expect(await world.store.messages.find({ id, accountId: world.account.id, channel: "email" })).toBe(
            undefined,
          );
        }
        const message = await world.message(shared, "email");
        expect(message.progress.parts.map(({ status }) => status)).toEqual([
          "pending",
          ...written.map(() => "failed" as const),
        ]);
        expect(JSON.stringify(message)).not.toMatch(/cher/i);
        expect(await found(world)).toEqual([...SPELLINGS].sort());
        const [row, ...more] = await listed(world);
        expect([isErased(row?.email ?? ""), more]).toEqual([true, []]);
        expect(await add(world, UNICODE)).toBe(0);
        expect(await listed(world)).toEqual([row!]);
        await removeAll(world);
      }
    }),
  );
}

function oneInCapitals(open: OpenStore): void {
  test(
    "mail to an address with letters outside ASCII is listed and erased however its letters are written, in either half",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const all = ["é.ève@ö.example", "É.Ève@ö.example", "É.ÈVE@Ö.Example", "é.ève@xn--nda.example"];
      for (const asked of [...all, "é.Ève@ö.example"]) {
        for (const address of all) await emailTo(world, [address]);
        const query = { accountId: account.id, channel: "email", limit: 10, createdFrom: 0 } as const;
        const found = () => store.messages.list({ ...query, recipient: asked });
        expect((await found()).messages).toHaveLength(all.length);
        await erase(world, lowerAscii(asked));
        expect((await store.messages.list(query)).messages).toEqual([]);
      }
    }),
  );

  test(
    "an erasure leaves an address that is the erased one in capitals only, and another in small letters",
    inWorld(open, async (world) => {
      const other = "maria@strasse.example";
      const shared = await emailTo(world, [other, "maria@straße.example"]);
      const beside = await emailTo(world, ["strauss@x.test", "strauß@x.test"]);
      for (const recipient of ["maria@straße.example", "strauß@x.test"]) await erase(world, recipient);
      const addresses = async (id: string) =>
        (await world.message(id, "email")).progress.parts.map(({ address }) => address);
      expect(await addresses(shared)).toEqual([other, ERASED_ADDRESS]);
      expect(await addresses(beside)).toEqual(["strauss@x.test", ERASED_ADDRESS]);
    }),
  );
}

function entryOf({ id, account, clock }: World, email: string): Suppression {
  return { id: id(), accountId: account.id, email, reason: "manual", createdAt: clock.now };
}

function add(world: World, email: string, over: Partial<Suppression> = {}): Promise<number | undefined> {
  return world.store.suppressions.add([{ ...entryOf(world, email), ...over }]);
}

/** Which of the spellings are suppressed when all are asked for at once. */
async function found({ store, account, clock }: World): Promise<readonly string[]> {
  const all = await store.suppressions.find(account.id, SPELLINGS, clock.now);
  return all.map(({ email }) => email).sort();
}

function listed({ store, account }: World) {
  return store.records.list("suppressions", { accountId: account.id }, { limit: 10 });
}

async function removeAll(world: World): Promise<void> {
  for (const { id } of await listed(world)) await world.store.records.remove("suppressions", id);
}

function emailTo(world: World, addresses: readonly string[]): Promise<string> {
  const parts = addresses.map((address) => ({ status: "pending", address }) as const);
  return world.email({ parts, jobs: [{ queue: "queue-a" }] });
}

async function erase({ store, id, clock }: World, recipient: string): Promise<void> {
  await store.erasures.create({
    id: id(),
    recipient,
    salt: "s".repeat(32),
    digest: "d".repeat(64),
    createdAt: clock.now,
  });
  clock.now += 1;
  for (let steps = 0; steps < 500; steps++) if ((await store.erasures.advance(clock.now, 10)) === 0) return;
  throw new Error("erasing does not end");
}

function domainOf({ id, account, clock }: World, domain: string): Domain {
  return {
    id: id(),
    accountId: account.id,
    domain,
    ownershipToken: "token",
    dkimKeys: [],
    createdAt: clock.now,
  };
}
