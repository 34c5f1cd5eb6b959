import { expect, test } from "bun:test";
import type { Sender } from "../../../core/records/accounts.ts";
import { inWorld, type OpenStore, type World } from "../world.contract.ts";
import { connector } from "./records.contract.ts";

/** Changes of one record by several who have read it. */
export function recordChangesContract(open: OpenStore): void {
  test(
    "a change of what somebody else has changed meanwhile writes nothing, and answers with the record as it is now",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const read = connector(world);
      await records.create("connectors", read);
      const now = { ...read, config: { ...read.config, port: 1 } };
      expect(await records.update("connectors", read, { config: now.config })).toEqual(now);
      const version = await records.version();
      const late = { config: { ...read.config, host: "b.example" }, secrets: { password: "new" } };
      expect(await records.update("connectors", read, late)).toEqual({ overtakenBy: now });
      // Also where nothing would be written, or other fields.
      expect(await records.update("connectors", read, {})).toEqual({ overtakenBy: now });
      expect(await records.update("connectors", read, { isEnabled: false })).toEqual({ overtakenBy: now });
      expect(await records.find("connectors", { id: read.id })).toEqual(now);
      expect(await records.version()).toBe(version);
      expect(await records.update("connectors", now, late)).toEqual({ ...now, ...late });
    }),
  );

  test(
    "of changes that follow from one reading and come at once one holds, and all hold where each is tried again",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const first = connector(world, { config: {} });
      await records.create("connectors", first);
      const names = Array.from({ length: 8 }, (_, index) => `field${index}`);
      const add = async (name: string) => {
        let read = first;
        for (let tries = 1; ; tries++) {
          const config = { ...read.config, [name]: name };
          const done = await records.update("connectors", read, { config });
          if (!done || "conflict" in done) throw new Error(JSON.stringify(done));
          if (!("overtakenBy" in done)) return tries;
          read = done.overtakenBy;
        }
      };
      const tries = await Promise.all(names.map(add));
      expect(tries.filter((each) => each === 1)).toHaveLength(1);
      const now = await records.find("connectors", { id: first.id });
      expect(Object.keys(now?.config ?? {}).sort()).toEqual(names);
    }),
  );

  test(
    "secrets that are sealed anew have not changed if they are the same; if they are others, they have",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const read = connector(world, { secrets: { password: "hünter2", token: "t" } });
      await records.create("connectors", read);
      expect(await records.update("connectors", read, { secrets: { ...read.secrets } })).toEqual(read);
      const other = { ...read, secrets: { password: "hünter2", token: "u" } };
      expect(await records.update("connectors", other, { isEnabled: false })).toEqual({ overtakenBy: read });
      const changed = { ...read, isEnabled: false };
      expect(await records.update("connectors", read, { isEnabled: false })).toEqual(changed);
    }),
  );

  test(
    "a record that has gone meanwhile is not changed, and not made again",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const read = connector(world);
      await records.create("connectors", read);
      await records.remove("connectors", read.id);
      expect(await records.update("connectors", read, { isEnabled: false })).toBeUndefined();
      expect(await records.find("connectors", { id: read.id })).toBeUndefined();
    }),
  );

  test(
    "a field that was set, or cleared, meanwhile is a change; one given as undefined is absent",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const bare = sender(world, "A");
      await records.create("senders", bare);
      const given = { ...bare, dltEntityId: undefined } as unknown as Sender;
      const set = { ...bare, dltEntityId: "1101" };
      expect(await records.update("senders", given, { dltEntityId: "1101" })).toEqual(set);
      expect(await records.update("senders", bare, { status: "approved" })).toEqual({ overtakenBy: set });
      expect(await records.update("senders", set, { dltEntityId: null })).toEqual(bare);
      expect(await records.update("senders", set, { status: "approved" })).toEqual({ overtakenBy: bare });
    }),
  );

  test(
    "a change that came too late takes the default from no sender, and is not refused for what it names",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const [standing, read] = [{ ...sender(world, "A"), isDefault: true }, sender(world, "B")];
      for (const each of [standing, read]) await records.create("senders", each);
      const now = { ...read, dltEntityId: "1101" };
      await records.update("senders", read, { dltEntityId: "1101" });
      const overtaken = { overtakenBy: now };
      expect(await records.update("senders", read, { isDefault: true })).toEqual(overtaken);
      expect(await records.update("senders", read, { senderId: "A" })).toEqual(overtaken);
      expect(await records.find("senders", { id: standing.id })).toEqual(standing);
    }),
  );
}

function sender({ id, account, clock }: World, senderId: string): Sender {
  return { id: id(), accountId: account.id, senderId, isDefault: false, createdAt: clock.now };
}
