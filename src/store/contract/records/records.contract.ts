import { expect, test } from "bun:test";
import type { Domain } from "../../../core/domains/domain.ts";
import type { Connector, Route, Sender } from "../../../core/records/accounts.ts";
import { deferred, inWorld, type OpenStore, rejection, type World } from "../world.contract.ts";

export function recordsContract(open: OpenStore): void {
  test(
    "a record is found as it was created, absent fields absent",
    inWorld(open, async (world) => {
      const { store } = world;
      const whole: Sender = { ...sender(world), dltEntityId: "1101", linkedDltTemplateIds: ["1107", "1108"] };
      const bare = sender(world);
      for (const record of [whole, bare]) {
        expect(await store.records.create("senders", record)).toBe("created");
        expect(await store.records.find("senders", { id: record.id })).toEqual(record);
      }
      expect(await store.records.find("senders", { senderId: whole.senderId, isDefault: false })).toEqual(
        whole,
      );
      expect(await store.records.find("senders", { isDefault: true })).toBeUndefined();
    }),
  );

  test(
    "secrets come back as they were given",
    inWorld(open, async (world) => {
      const { store } = world;
      const first = connector(world, { secrets: { password: "hünter2", empty: "" } });
      const domain = domainOf(world);
      await store.records.create("connectors", first);
      await store.records.create("domains", domain);
      expect(await store.records.find("connectors", { name: first.name })).toEqual(first);
      expect(await store.records.find("domains", { domain: "acme.test" })).toEqual(domain);
      const changed = await store.records.update("connectors", first, { secrets: { password: "new" } });
      expect(changed).toMatchObject({ secrets: { password: "new" } });
    }),
  );

  test(
    "what is taken, and a parent that does not exist, is a conflict that names the field",
    inWorld(open, async (world) => {
      const { store, id } = world;
      const first = sender(world);
      await store.records.create("senders", first);
      const { records } = store;
      expect(await records.create("senders", { ...first, id: id() })).toEqual({ conflict: "senderId" });
      expect(await records.create("senders", first)).toHaveProperty("conflict");
      expect(await records.create("senders", { ...sender(world), accountId: id() })).toEqual({
        conflict: "accountId",
      });
      const second = sender(world);
      await records.create("senders", second);
      const taken = { senderId: first.senderId };
      expect(await records.update("senders", second, taken)).toEqual({ conflict: "senderId" });
      expect(await records.find("senders", { id: second.id })).toEqual(second);
      expect(await records.create("routes", route(world, [id()]))).toEqual({ conflict: "connectorIds" });
    }),
  );

  test(
    "what is taken in one account is free in another, and nothing is taken by being absent",
    inWorld(open, async (world) => {
      const { store, addAccount, id, clock } = world;
      const other = await addAccount();
      const first = sender(world);
      await store.records.create("senders", first);
      expect(await store.records.create("senders", { ...first, id: id(), accountId: other.id })).toBe(
        "created",
      );
      for (let i = 0; i < 2; i++) {
        const anonymous = { id: id(), accountId: other.id, createdAt: clock.now };
        expect(await store.records.create("contacts", anonymous)).toBe("created");
      }
    }),
  );

  test(
    "a list is in order of id, a page at a time, of those that match",
    inWorld(open, async (world) => {
      const { store, addAccount, account } = world;
      const other = await addAccount();
      const mine = [sender(world), sender(world), sender(world)];
      for (const record of [...mine].reverse()) await store.records.create("senders", record);
      await store.records.create("senders", { ...sender(world), accountId: other.id });
      const list = (after?: string) =>
        store.records.list("senders", { accountId: account.id }, { limit: 2, ...(after && { after }) });
      expect(await list()).toEqual(mine.slice(0, 2));
      expect(await list(mine[1]!.id)).toEqual(mine.slice(2));
      expect(await list(mine[2]!.id)).toEqual([]);
    }),
  );

  test(
    "an update changes what it names, null clears, and a record that is not there is undefined",
    inWorld(open, async (world) => {
      const { store, id } = world;
      const first: Sender = { ...sender(world), dltEntityId: "1101" };
      await store.records.create("senders", first);
      const { dltEntityId: _, ...cleared } = first;
      const changed = { ...cleared, isDefault: true };
      const changes = { dltEntityId: null, isDefault: true };
      expect(await store.records.update("senders", first, changes)).toEqual(changed);
      expect(await store.records.update("senders", changed, {})).toEqual(changed);
      expect(await store.records.update("senders", { ...changed, id: id() }, changes)).toBeUndefined();
    }),
  );

  test(
    "fields that do not exist are refused, and no value is ever read as a statement",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const odd = { "id = id OR 1=1 --": "x" } as object;
      expect(await rejection(records.find("senders", odd))).toBeInstanceOf(Error);
      expect(await rejection(records.update("senders", sender(world), odd))).toBeInstanceOf(Error);
      await records.create("senders", { ...sender(world), senderId: "'; DROP TABLE senders; --" });
      expect(await records.find("senders", { senderId: "'; DROP TABLE senders; --" })).toBeDefined();
    }),
  );

  test(
    "what others refer to is in use, and goes when they have gone",
    inWorld(open, async (world) => {
      const { store, addAccount, id } = world;
      const { records } = store;
      const owner = await addAccount();
      const owned: Sender = { ...sender(world), accountId: owner.id };
      await records.create("senders", owned);
      expect(await records.remove("accounts", owner.id)).toBe("in_use");
      expect(await records.remove("senders", owned.id)).toBe(true);
      expect(await records.remove("senders", owned.id)).toBe(false);
      await records.setSettings(owner.id, { a: "b" });
      expect(await records.remove("accounts", owner.id)).toBe(true);

      const way = connector(world);
      await records.create("connectors", way);
      const via = route(world, [way.id]);
      await records.create("routes", via);
      expect(await records.remove("connectors", way.id)).toBe("in_use");
      expect(await records.remove("routes", via.id)).toBe(true);
      expect(await records.remove("connectors", way.id)).toBe(true);
      expect(await records.remove("connectors", id())).toBe(false);
    }),
  );

  test(
    "an account that has messages, and a route that has jobs, are in use",
    inWorld(open, async (world) => {
      const { store, sms, account, claim, clock, settle } = world;
      const way = connector(world);
      const via = route(world, [way.id]);
      await store.records.create("connectors", way);
      await store.records.create("routes", via);
      await sms({ queue: via.id });
      expect(await store.records.remove("routes", via.id)).toBe("in_use");
      const [job] = await claim(1, via.id);
      expect(await store.records.remove("routes", via.id)).toBe("in_use");
      await settle(job!, { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now } });
      expect(await store.records.remove("routes", via.id)).toBe("in_use");
      await store.queue.stage(clock.now, 10);
      await settle((await claim(1, via.id))[0]!);
      expect(await store.records.remove("routes", via.id)).toBe(true);
      expect(await store.records.remove("accounts", account.id)).toBe("in_use");
    }),
  );

  test(
    "a route that is not there is not in use, whatever waits in its queue",
    inWorld(open, async ({ store, sms, claim, id }) => {
      const gone = id();
      await sms({ queue: gone });
      expect(await store.records.remove("routes", gone)).toBe(false);
      await claim(1, gone);
      expect(await store.records.remove("routes", gone)).toBe(false);
    }),
  );
}

let senders = 0;

function sender({ id, account, clock }: World): Sender {
  return {
    id: id(),
    accountId: account.id,
    senderId: `S${senders++}`,
    isDefault: false,
    createdAt: clock.now,
  };
}

export function connector({ id, clock }: World, over: Partial<Connector> = {}): Connector {
  const connectorId = id();
  return {
    id: connectorId,
    name: `c-${connectorId}`,
    kind: "smpp",
    config: { host: "127.0.0.1", port: 2775 },
    secrets: { password: "p" },
    isEnabled: true,
    createdAt: clock.now,
    ...over,
  };
}

export function route({ id, clock }: World, connectorIds: readonly string[]): Route {
  return { id: id(), channel: "sms", match: "91", connectorIds, createdAt: clock.now };
}

function domainOf({ id, account, clock }: World): Domain {
  return {
    id: id(),
    accountId: account.id,
    domain: "acme.test",
    ownershipToken: "token",
    dkimKeys: [
      {
        selector: "s1",
        rsaPublicKey: "MIIB",
        rsaPrivateKey: "-----BEGIN PRIVATE KEY-----\nabc\n",
        ed25519PublicKey: "AAAA",
        ed25519PrivateKey: "-----BEGIN PRIVATE KEY-----\ndef\n",
        createdAt: clock.now,
      },
    ],
    failingSince: clock.now,
    lastCheck: {
      at: clock.now,
      records: [{ type: "TXT", name: "_postrider.acme.test", result: "missing", found: [] }],
    },
    createdAt: clock.now,
  };
}
