import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { sms } from "../../../test/progress-samples.ts";
import type { Channel } from "../../channels/channel.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { createFailover } from "./failover.ts";
import { createHealth } from "./health.ts";
import { createLargeLimit } from "./large-limit.ts";
import { createOutlet, type Outlet } from "./outlet.ts";
import { outletOfJob } from "./outlet-of-job.ts";
import { createThrottle } from "./throttle.ts";

/** An outlet with so many slots; `told` counts how often it said that reserved ones were given back. */
function openOutlet(connectorId: string, freeSlots: number, state: "up" | "down" = "up") {
  const clock = createHeldClock();
  const told = { slots: 0 };
  const channel = {
    connectorId,
    freeSlots: () => freeSlots,
    status: () => ({ state, since: 0 }),
  } as unknown as Channel;
  const outlet = createOutlet(channel, {
    clock,
    throttle: createThrottle(clock, undefined),
    health: createHealth(clock, { keepsRate: false, reachesMany: false }),
    largeLimit: createLargeLimit(clock, 1),
    onSlots: () => void told.slots++,
    isElsewhere: () => false,
  });
  return { clock, outlet, told };
}

/** What becomes of a message that `owner` took in part and that was claimed for `offered`, with a slot reserved there. */
function choose(owner: string, offered: Outlet, ...others: readonly Outlet[]) {
  const outlets = [offered, ...others];
  const parts = [{ status: "sent", connectorId: owner }, { status: "pending" }] as const;
  const job = { messageId: "m", progress: sms({ parts }) } as unknown as ClaimedJob;
  const deps = {
    outletOf: (id: string) => outlets.find(({ channel }) => channel.connectorId === id),
    failover: createFailover(),
  };
  offered.reserve(1);
  const chosen = outletOfJob(deps, job, { outlet: offered, outlets, failoverMode: "safe" });
  return "outlet" in chosen ? chosen.outlet.channel.connectorId : chosen;
}

test("a message that goes to its owner takes a slot there, and gives back the one it was claimed for", () => {
  const { outlet: offered, told } = openOutlet("offered", 5);
  const { outlet: owner } = openOutlet("owner", 5);
  expect(choose("owner", offered, owner)).toBe("owner");
  expect([offered.available(), owner.available(), told.slots]).toEqual([5, 4, 1]);
});

test("a message that was claimed for its owner stays there, though that was the last slot", () => {
  const { outlet: owner, told } = openOutlet("owner", 1);
  expect(choose("owner", owner)).toBe("owner");
  expect([owner.available(), told.slots]).toEqual([0, 0]);
});

test("a message waits in the queue of an owner that is full, and for one that is down or gone longer the longer that has been down", async () => {
  const { outlet: offered } = openOutlet("offered", 5);
  const { outlet: full } = openOutlet("owner", 0);
  expect(choose("owner", offered, full)).toEqual({ owner: "owner", waitMs: 0, isUp: true });
  const { clock, outlet: down } = openOutlet("owner", 5, "down");
  for (const [passMs, waitMs] of [
    [0, 1_000],
    [7_998.5, 2_000],
    [112_001.5, 30_000],
    [3_600_000, 30_000],
  ] as const) {
    await clock.advance(passMs);
    expect(choose("owner", offered, down)).toEqual({ owner: "owner", waitMs });
  }
  expect(choose("owner", offered)).toEqual({ owner: "owner", waitMs: 30_000 });
  expect([full.available(), down.available()]).toEqual([0, 5]);
});

test("workers in line are told of slots that are given back, and not where none are", () => {
  const { outlet, told } = openOutlet("c", 5);
  outlet.reserve(2);
  outlet.unreserve(0);
  expect(told.slots).toBe(0);
  outlet.unreserve(2);
  expect([told.slots, outlet.available()]).toEqual([1, 5]);
});
