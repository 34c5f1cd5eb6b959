import { expect, test } from "bun:test";
import { isErased } from "../../../core/messages/erasure.ts";
import type { Account, Suppression } from "../../../core/records/accounts.ts";
import { DAY, HOUR, inWorld, type OpenStore, SMS, type World } from "../world.contract.ts";

const HANDSET = "+919800000001";
const NUMBER = "+14155550123";
const EMAIL = "asha@x.test";

/** Erased recipients stay suppressed, and nothing says who they are. */
export function erasedSuppressionContract(open: OpenStore): void {
  erasedSuppressions(open);
  erasedOptOuts(open);
  forgottenBounces(open);
}

function erasedSuppressions(open: OpenStore): void {
  test(
    "a suppression outlives its recipient's erasure, without the address and words that hold it",
    inWorld(open, async (world) => {
      const { store } = world;
      await suppress(world, { source: `${EMAIL} called us`, expiresAt: world.clock.now + DAY });
      await erase(world, "Asha@X.test".toLowerCase());
      const [row] = await listed(world);
      expect(isErased(row?.email ?? "")).toBe(true);
      const times = { expiresAt: world.clock.now + DAY, createdAt: world.clock.now };
      expect(row).toMatchObject({ reason: "manual", ...times });
      expect(JSON.stringify(row)).not.toContain("asha");
      expect(await suppressed(world)).toEqual([{ email: EMAIL, reason: "manual" }]);
      world.clock.now += DAY;
      expect(await suppressed(world)).toEqual([]);
      expect(await store.retention.pruneSuppressions(world.clock.now, 10)).toBe(1);
    }),
  );

  test(
    "an erasure in one account leaves the others' suppressions as they are",
    inWorld(open, async (world) => {
      const other = await world.addAccount();
      await suppress(world);
      await suppress(world, { accountId: other.id });
      await erase(world, EMAIL, world.account);
      expect((await listed(world)).map(({ email }) => isErased(email))).toEqual([true]);
      expect((await listed(world, other)).map(({ email }) => email)).toEqual([EMAIL]);
      await erase(world, EMAIL);
      expect(new Set([...(await listed(world)), ...(await listed(world, other))].map(nameOf)).size).toBe(1);
    }),
  );

  test(
    "what is learned of an erased address later is added to what stands there, and does not bring the address back",
    inWorld(open, async (world) => {
      await suppress(world, { expiresAt: world.clock.now + DAY });
      await erase(world, EMAIL);
      const entry = { reason: "complaint", source: "m-1" } as const;
      expect(await suppress(world, entry)).toBe(1);
      expect(await suppress(world, entry)).toBe(0);
      const [row, ...more] = await listed(world);
      expect([isErased(row?.email ?? ""), row?.reason, row?.expiresAt, more]).toEqual([
        true,
        "complaint",
        undefined,
        [],
      ]);
    }),
  );

  test(
    "who knows the address finds the entry and can take it back; it cannot be made twice",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await suppress(world);
      await erase(world, EMAIL);
      const found = await store.records.find("suppressions", { accountId: account.id, email: EMAIL });
      expect(isErased(found?.email ?? "")).toBe(true);
      const again = { ...entryOf(world), id: world.id() };
      expect(await store.records.create("suppressions", again)).toEqual({ conflict: "email" });
      await store.records.remove("suppressions", found?.id ?? "");
      expect(await suppressed(world)).toEqual([]);
      expect(await store.records.create("suppressions", again)).toBe("created");
    }),
  );

  test(
    "an erased entry that was exported holds again where it is brought back",
    inWorld(open, async (world) => {
      await suppress(world);
      await erase(world, EMAIL);
      const [row] = await listed(world);
      await world.store.records.remove("suppressions", row?.id ?? "");
      expect(await suppress(world, { email: row?.email ?? "" })).toBe(1);
      expect(await suppressed(world)).toEqual([{ email: EMAIL, reason: "manual" }]);
      await suppress(world, { email: "ravi@x.test" });
      expect(await suppressed(world, EMAIL, "ravi@x.test")).toHaveLength(2);
    }),
  );
}

function erasedOptOuts(open: OpenStore): void {
  test(
    "an opt-out outlives its recipient's erasure: at the door, and for a job that is claimed",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await optOut(world, { reason: `${HANDSET} rang` });
      await erase(world, HANDSET);
      const [row] = await optOuts(world);
      expect(isErased(row?.recipient ?? "")).toBe(true);
      expect(row).toMatchObject({ sender: NUMBER, reason: "erased rang" });
      const asked = { accountId: account.id, sender: NUMBER, to: ["+919800000002", HANDSET] };
      expect(await store.suppressions.findOptedOut(asked)).toEqual([HANDSET]);
      expect(await store.suppressions.findOptedOut({ ...asked, sender: "ACME" })).toEqual([]);
      await world.sms({ to: [HANDSET], content: { ...SMS, from: NUMBER.slice(1) } as never });
      expect(await world.claimOne()).toMatchObject({ isOptedOut: true });
    }),
  );

  test(
    "an opt-out from all senders of the account outlives its recipient's erasure",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const { sender: _, ...ofAll } = optOutOf(world, {});
      await store.records.create("optOuts", ofAll);
      await erase(world, HANDSET);
      const asked = { accountId: account.id, to: [HANDSET] };
      expect(await store.suppressions.findOptedOut(asked)).toEqual([HANDSET]);
      expect(await store.suppressions.findOptedOut({ ...asked, sender: "ACME" })).toEqual([HANDSET]);
      await world.sms({ to: [HANDSET], content: { ...SMS, from: "ACME" } as never });
      expect(await world.claimOne()).toMatchObject({ isOptedOut: true });
    }),
  );

  test(
    "START from the handset ends an opt-out that names nobody; STOP before that adds nothing to it",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const number = { id: world.id(), accountId: account.id, number: NUMBER, createdAt: clock.now };
      await store.records.create("inboundNumbers", number);
      await write(world, "STOP");
      clock.now += HOUR;
      await erase(world, HANDSET);
      clock.now += HOUR;
      await write(world, "stop");
      expect((await optOuts(world)).map(({ recipient }) => isErased(recipient))).toEqual([true]);
      await write(world, "START");
      expect(await optOuts(world)).toEqual([]);
      const asked = { accountId: account.id, sender: NUMBER, to: [HANDSET] };
      expect(await store.suppressions.findOptedOut(asked)).toEqual([]);
    }),
  );

  test(
    "STOP counts in its account, though the number was erased and has opted out of another one",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const other = await world.addAccount();
      const { sender: _, ...ofAll } = optOutOf(world, { accountId: other.id });
      await store.records.create("optOuts", ofAll);
      await optOut(world, { accountId: other.id });
      await erase(world, HANDSET);
      const number = { id: world.id(), accountId: account.id, number: NUMBER, createdAt: clock.now };
      await store.records.create("inboundNumbers", number);
      const asked = { accountId: account.id, sender: NUMBER, to: [HANDSET] };
      for (const scope of ["sender", "account"]) {
        await store.records.setSettings(account.id, { opt_out_scope: scope });
        await write(world, "STOP");
        expect(await store.suppressions.findOptedOut(asked)).toEqual([HANDSET]);
        await write(world, "START");
        expect(await store.suppressions.findOptedOut(asked)).toEqual([]);
      }
    }),
  );

  test(
    "opt-outs of one number from several senders are erased all, in the one account only, and found by the number",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const other = await world.addAccount();
      const { sender: _, ...ofAll } = optOutOf(world, {});
      await optOut(world, {});
      await optOut(world, { sender: "ACME" });
      await optOut(world, { accountId: other.id });
      await store.records.create("optOuts", ofAll);
      await erase(world, HANDSET, account);
      const where = { accountId: account.id, recipient: HANDSET };
      const found = await store.records.list("optOuts", where, { limit: 10 });
      expect(found.map(({ sender }) => sender)).toEqual([undefined, NUMBER, "ACME"]);
      expect(found.map(({ recipient }) => isErased(recipient))).toEqual([true, true, true]);
      expect((await optOuts(world, other)).map(({ recipient }) => recipient)).toEqual([HANDSET]);
      const pages: (readonly string[])[] = [];
      for (let after = ""; pages.length < 5; after = pages.at(-1)?.[0] ?? "~") {
        const rows = await store.records.list("optOuts", { recipient: HANDSET }, { limit: 1, after });
        pages.push(rows.map(({ id }) => id));
      }
      expect(pages.map(({ length }) => length)).toEqual([1, 1, 1, 1, 0]);
      const ids = pages.flat();
      expect(ids).toEqual([...new Set(ids)].toSorted());
      const again = await store.records.create("optOuts", { ...ofAll, id: world.id() });
      expect(again).toEqual({ conflict: "recipient" });
      expect(await optOut(world, { sender: "NEW" })).toBe("created");
    }),
  );

  test(
    "where an import has brought the erased form of an opt-out already, the number goes all the same",
    inWorld(open, async (world) => {
      const other = await world.addAccount();
      await optOut(world, { accountId: other.id });
      await erase(world, HANDSET, other);
      const [exported] = await optOuts(world, other);
      await optOut(world, {});
      const imported = { ...optOutOf(world, {}), recipient: exported?.recipient ?? "" };
      expect(await world.store.records.create("optOuts", imported)).toBe("created");
      await erase(world, HANDSET);
      expect((await optOuts(world)).map(({ id }) => id)).toEqual([imported.id]);
    }),
  );
}

function forgottenBounces(open: OpenStore): void {
  for (const address of [EMAIL, "\u00c9ric@x.test"]) {
    test(
      `soft bounces of an erased address are forgotten: ${address}`,
      inWorld(open, async (world) => {
        const bounce = async () => {
          const parts = [{ status: "pending", address }] as const;
          const id = await world.email({ parts, jobs: [{ queue: "queue-a" }] });
          await world.settle(await world.claimOne());
          const target = { messageId: id, part: 0 };
          await world.receive("", { target, status: "bounced", suppress: "soft_bounce" });
          world.clock.now += DAY;
        };
        await bounce();
        await bounce();
        await erase(world, address);
        await bounce();
        expect(await suppressed(world, address.toLowerCase())).toEqual([]);
      }),
    );
  }
}

function entryOf({ id, account, clock }: World): Suppression {
  return { id: id(), accountId: account.id, email: EMAIL, reason: "manual", createdAt: clock.now };
}

function suppress(world: World, over: Partial<Suppression> = {}): Promise<number | undefined> {
  return world.store.suppressions.add([{ ...entryOf(world), ...over }]);
}

function suppressed({ store, account, clock }: World, ...emails: string[]) {
  return store.suppressions.find(account.id, emails.length > 0 ? emails : [EMAIL], clock.now);
}

function listed({ store, account }: World, of: Account = account) {
  return store.records.list("suppressions", { accountId: of.id }, { limit: 10 });
}

function nameOf({ email }: Suppression): string {
  return email;
}

function optOutOf(
  { id, account, clock }: World,
  over: { accountId?: string; sender?: string; reason?: string },
) {
  const times = { createdAt: clock.now, reason: "added by an operator" };
  return { id: id(), accountId: account.id, sender: NUMBER, recipient: HANDSET, ...times, ...over };
}

function optOut(world: World, over: Parameters<typeof optOutOf>[1]) {
  return world.store.records.create("optOuts", optOutOf(world, over));
}

function optOuts({ store, account }: World, of: Account = account) {
  return store.records.list("optOuts", { accountId: of.id }, { limit: 10 });
}

function write({ store, id, clock }: World, text: string) {
  const newId = id();
  const piece = { id: newId, connectorId: "c", from: HANDSET, to: NUMBER, text, encoding: "gsm7" as const };
  const times = { receivedAt: clock.now, sameSince: clock.now - DAY };
  return store.inbound.receive([{ ...piece, ...times, key: newId, segments: 1 }]);
}

async function erase({ store, id, clock }: World, recipient: string, account?: Account): Promise<void> {
  const record = { id: id(), recipient, salt: "s".repeat(32), digest: "d".repeat(64), createdAt: clock.now };
  await store.erasures.create({ ...record, ...(account && { accountId: account.id }) });
  for (let steps = 0; steps < 500; steps++) if ((await store.erasures.advance(clock.now, 10)) === 0) return;
  throw new Error("erasing does not end");
}
