import { expect, test } from "bun:test";
import type { Heartbeat, LeaseSnapshot } from "../../store.ts";
import { inWorld, type OpenStore, QUEUE, SECOND } from "../world.contract.ts";

const idle: Omit<Heartbeat, "process"> = { isSharing: true, keep: [], take: [], dead: [], now: 0 };
const slot = (number: number, name = "smsc") => ({ name, slot: number });

function holders(snapshot: LeaseSnapshot): readonly string[] {
  return snapshot.leases.map((lease) => `${lease.name} ${lease.slot} ${lease.process}`).toSorted();
}

export function leasesContract(open: OpenStore): void {
  test(
    "a slot is had by the first that takes it, until that one gives it up",
    inWorld(open, async ({ store: { leases } }) => {
      await leases.heartbeat({ ...idle, process: "a", take: [slot(0), slot(1)] });
      expect(holders(await leases.heartbeat({ ...idle, process: "b", take: [slot(1), slot(2)] }))).toEqual([
        "smsc 0 a",
        "smsc 1 a",
        "smsc 2 b",
      ]);
      await leases.heartbeat({ ...idle, process: "a", keep: [{ ...slot(0), isUp: true }] });
      const keep = [{ ...slot(2), isUp: false }];
      const snapshot = await leases.heartbeat({ ...idle, process: "b", keep, take: [slot(0), slot(1)] });
      expect(holders(snapshot)).toEqual(["smsc 0 a", "smsc 1 b", "smsc 2 b"]);
      expect(snapshot.leases.filter(({ isUp }) => isUp)).toEqual([
        { name: "smsc", slot: 0, process: "a", isUp: true },
      ]);
    }),
  );

  test(
    "who does not have a slot, or no longer, does not say whether it is up",
    inWorld(open, async ({ store: { leases } }) => {
      await leases.heartbeat({ ...idle, process: "a", take: [slot(0)] });
      const keep = [{ ...slot(0), isUp: true }];
      const { leases: after } = await leases.heartbeat({ ...idle, process: "b", keep });
      expect(after).toEqual([{ ...slot(0), process: "a", isUp: false }]);
    }),
  );

  test(
    "of many that take the same slots at once each is had by one",
    inWorld(open, async ({ store: { leases } }) => {
      const names = Array.from({ length: 8 }, (_, index) => `p${index}`);
      const take = Array.from({ length: 5 }, (_, index) => slot(index));
      const snapshots = await Promise.all(
        names.map((process) =>
          leases.heartbeat({ ...idle, process, take: process > "p3" ? take.toReversed() : take }),
        ),
      );
      const last = snapshots.find(({ processes }) => processes.length === names.length);
      expect(last?.leases).toHaveLength(5);
    }),
  );

  test(
    "one that stands still is removed with all it has, and finds that out; one with a heartbeat since is not",
    inWorld(open, async ({ store: { leases } }) => {
      const seen = await leases.heartbeat({ ...idle, process: "a", take: [slot(0)] });
      const dead = seen.processes.filter(({ process }) => process === "a");
      const keep = [{ ...slot(0), isUp: true }];
      await leases.heartbeat({ ...idle, process: "a", keep });
      const spared = await leases.heartbeat({ ...idle, process: "b", dead, take: [slot(0)] });
      expect(holders(spared)).toEqual(["smsc 0 a"]);

      const now = spared.processes.filter(({ process }) => process === "a");
      const removed = await leases.heartbeat({ ...idle, process: "b", dead: now, take: [slot(0)] });
      expect(holders(removed)).toEqual(["smsc 0 b"]);
      expect(removed.processes.map(({ process }) => process)).toEqual(["b"]);

      const stale = await leases.heartbeat({ ...idle, process: "a", keep });
      expect([seen, spared, removed, stale].map(({ isNew }) => isNew)).toEqual([true, true, false, true]);
      expect(holders(stale)).toEqual(["smsc 0 b"]);
      const again = stale.processes.filter(({ process }) => process === "a");
      expect(again).toHaveLength(1);
      expect([...now, ...dead].map(({ heartbeat }) => heartbeat)).not.toContain(again[0]?.heartbeat);
    }),
  );

  test(
    "the snapshot tells of each process whether it takes part in sharing, as of its last heartbeat",
    inWorld(open, async ({ store: { leases } }) => {
      await leases.heartbeat({ ...idle, process: "a", isSharing: false });
      const parts = async (isSharing: boolean) => {
        const { processes } = await leases.heartbeat({ ...idle, process: "b", isSharing });
        return Object.fromEntries(processes.map((one) => [one.process, one.isSharing]));
      };
      expect(await parts(true)).toEqual({ a: false, b: true });
      expect(await parts(false)).toEqual({ a: false, b: false });
    }),
  );

  test(
    "what a process has claimed is its own while it has heartbeats, whoever takes an earlier one for its last",
    inWorld(open, async ({ store, sms, clock }) => {
      const [messageId] = await sms();
      const seen = await store.leases.heartbeat({ ...idle, process: "a" });
      const request = { queue: QUEUE, limit: 1, leaseMs: 60 * SECOND, process: "a" };
      const [job] = await store.queue.claim({ ...request, now: clock.now });
      await store.leases.heartbeat({ ...idle, process: "a" });
      const dead = seen.processes.filter(({ process }) => process === "a");
      await store.leases.heartbeat({ ...idle, process: "b", dead, now: clock.now });
      expect(await store.queue.stage(clock.now, 10)).toBe(0);
      expect(job).toMatchObject({ messageId, claim: 1 });
    }),
  );

  test(
    "who leaves has nothing any more, and others have what they had",
    inWorld(open, async ({ store: { leases } }) => {
      await leases.heartbeat({ ...idle, process: "a", take: [slot(0), slot(0, "other")] });
      await leases.heartbeat({ ...idle, process: "b", take: [slot(1)] });
      await leases.leave("a");
      const keep = [{ ...slot(1), isUp: true }];
      const snapshot = await leases.heartbeat({ ...idle, process: "b", keep, take: [slot(0, "other")] });
      expect(holders(snapshot)).toEqual(["other 0 b", "smsc 1 b"]);
      expect(snapshot.processes.map(({ process }) => process)).toEqual(["b"]);
    }),
  );
}
