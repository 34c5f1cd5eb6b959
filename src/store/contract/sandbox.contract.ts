import { expect, test } from "bun:test";
import type { SandboxEntry, SandboxQuery } from "../../core/messages/sandbox-entry.ts";
import { HOUR, inWorld, type OpenStore, SECOND, type World } from "./world.contract.ts";

export function sandboxContract(open: OpenStore): void {
  test(
    "what the simulator was given is listed in order, a page at a time, of those that match",
    inWorld(open, async (world) => {
      const { store, addAccount } = world;
      const other = await addAccount();
      const entries = [
        entry(world, { messageId: "m-1" }),
        entry(world, { messageId: "m-1", to: "+912" }),
        entry(world, { messageId: "m-2", channel: "email", to: "a@b.test" }),
        entry(world, { accountId: other.id }),
      ];
      await store.sandbox.record(entries);
      const [first, second, third, fourth] = entries;
      const list = store.sandbox.list;
      expect(await list({ limit: 10 })).toEqual(entries);
      expect(await list({ limit: 2, after: first!.id })).toEqual([second!, third!]);
      expect(await list({ limit: 10, messageId: "m-1" })).toEqual([first!, second!]);
      expect(await list({ limit: 10, channel: "email" })).toEqual([third!]);
      expect(await list({ limit: 10, messageId: "m-1", to: "+912" })).toEqual([second!]);
      expect(await list({ limit: 10, accountId: other.id })).toEqual([fourth!]);
    }),
  );

  test(
    "the same is listed from its other end, page by page",
    inWorld(open, async (world) => {
      const { sandbox } = world.store;
      const entries = Array.from({ length: 5 }, (_, n) => entry(world, { messageId: `m-${n % 2}` }));
      await sandbox.record(entries);
      const [first, second, third, fourth, fifth] = entries;
      const list = (query: Omit<SandboxQuery, "order">) => sandbox.list({ ...query, order: "newest" });
      expect(await list({ limit: 2 })).toEqual([fifth!, fourth!]);
      expect(await list({ limit: 2, after: fourth!.id })).toEqual([third!, second!]);
      expect(await list({ limit: 2, after: second!.id })).toEqual([first!]);
      expect(await list({ limit: 2, after: first!.id })).toEqual([]);
      expect(await list({ limit: 2, messageId: "m-0" })).toEqual([fifth!, third!]);
      expect(await list({ limit: 2, messageId: "m-0", after: third!.id })).toEqual([first!]);
      expect(await list({ limit: 9, to: "+911", after: fifth!.id })).toEqual(entries.toReversed().slice(1));
      expect(await sandbox.list({ limit: 2, order: "oldest", after: third!.id })).toEqual([fourth!, fifth!]);
    }),
  );

  test(
    "what was sent to an address is listed in any case, an international domain in every spelling",
    inWorld(open, async (world) => {
      const entryTo = (to: string) => entry(world, { channel: "email", to });
      const international = ["Info@bücher.example", "info@xn--bcher-kva.example", "info@BÜCHER.example"].map(
        entryTo,
      );
      const plain = [entryTo("Info@Example.org"), entryTo("ÉVE@example.org")];
      await world.store.sandbox.record([...international, ...plain]);
      const found = (to: string) => world.store.sandbox.list({ limit: 10, to });
      for (const to of ["info@bücher.example", "INFO@xn--bcher-kva.example", "info@Bücher.Example"]) {
        expect(await found(to)).toEqual(international);
      }
      expect(await found("info@example.org")).toEqual([plain[0]!]);
      expect(await found("ÉVE@example.org")).toEqual([plain[1]!]);
      expect(await found("fo@example.org")).toEqual([]);
    }),
  );

  test(
    "a receipt is owed from its time on, until it has been recorded",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const none = entry(world);
      const due = entry(world, { receipt: { at: clock.now + SECOND, status: "delivered" } });
      const error = { code: "blocked", message: "blocked" };
      const later = entry(world, { receipt: { at: clock.now + HOUR, status: "undelivered", error } });
      await store.sandbox.record([none, later, due]);
      expect(await store.sandbox.nextReceiptAt()).toBe(clock.now + SECOND);
      expect(await store.sandbox.dueReceipts(clock.now + SECOND - 1, 10)).toEqual([]);
      expect(await store.sandbox.dueReceipts(clock.now + SECOND, 10)).toEqual([due]);
      expect(await store.sandbox.dueReceipts(clock.now + HOUR, 1)).toEqual([due]);
      await world.receive(due.id, { connectorId: "simulator" });
      expect(await store.sandbox.dueReceipts(clock.now + HOUR, 10)).toEqual([later]);
      expect(await store.sandbox.nextReceiptAt()).toBe(clock.now + HOUR);
      expect(await store.sandbox.list({ limit: 10 })).toHaveLength(3);
      await world.receive(later.id, { connectorId: "simulator" });
      expect(await store.sandbox.nextReceiptAt()).toBeUndefined();
    }),
  );

  test(
    "sandbox messages go after their retention",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      await store.sandbox.record([entry(world), entry(world)]);
      clock.now += HOUR;
      const young = entry(world);
      await store.sandbox.record([young]);
      expect(await store.retention.pruneReceived(clock.now, 1)).toBe(1);
      expect(await store.retention.pruneReceived(clock.now, 1)).toBe(1);
      expect(await store.retention.pruneReceived(clock.now, 1)).toBe(0);
      expect(await store.sandbox.list({ limit: 10 })).toEqual([young]);
    }),
  );
}

function entry({ id, account, clock }: World, over: Partial<SandboxEntry> = {}): SandboxEntry {
  return {
    id: id(),
    accountId: account.id,
    messageId: "m",
    channel: "sms",
    to: "+911",
    receivedAt: clock.now,
    rendered: { text: "héllo", segments: 1, encoding: "gsm7" },
    ...over,
  };
}
