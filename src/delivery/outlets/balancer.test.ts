import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createBalancer } from "./balancer.ts";
import type { Outlet } from "./outlet.ts";

function openOutlet(connectorId: string, free: number, isAwaited = false) {
  const slots = { free };
  const outlet = {
    channel: { connectorId },
    isAwaited: () => isAwaited,
    available: () => slots.free,
    reserve: (count: number) => {
      slots.free -= count;
    },
    unreserve: (count: number) => {
      slots.free += count;
    },
  } as unknown as Outlet;
  return { outlet, slots };
}

type Balancer = ReturnType<typeof createBalancer>;
type Choice = Parameters<Balancer["reserve"]>[0];

/** Claims so many messages one by one, and gives their slots back. */
function claimEach(balancer: Balancer, choice: Choice, count: number): readonly string[] {
  return Array.from({ length: count }, () => {
    const reservation = balancer.reserve(choice, 1);
    const outlet = reservation?.next();
    reservation?.release();
    outlet?.unreserve(1);
    return outlet?.channel.connectorId ?? "none";
  });
}

test("a claim reserves no more than it may ask for, and gives back at both what it did not use", () => {
  const [a, b] = [openOutlet("a", 3), openOutlet("b", 30)];
  const balancer = createBalancer(createHeldClock());
  const reservation = balancer.reserve({ sharing: [{ ...a, weight: 1 }], probed: [b.outlet] }, 500);
  expect([reservation?.size, a.slots.free, b.slots.free]).toEqual([3, 0, 29]);
  expect(reservation?.next()?.channel.connectorId).toBe("a");
  reservation?.release();
  expect([a.slots.free, b.slots.free]).toEqual([2, 30]);
  a.slots.free = 30;
  const both = [a, b].map((each) => ({ ...each, weight: 1 }));
  expect(balancer.reserve({ sharing: both, probed: [] }, 10)?.size).toBe(10);
});

test("a claim hands out no more at one than was reserved there, whatever its weight", () => {
  const [a, b] = [openOutlet("a", 1), openOutlet("b", 3)];
  const balancer = createBalancer(createHeldClock());
  const handOut = (sharing: Choice["sharing"]) => {
    const reservation = balancer.reserve({ sharing, probed: [] }, 10);
    const ids = Array.from({ length: 5 }, () => reservation?.next()?.channel.connectorId);
    for (const outlet of sharing.map((each) => each.outlet))
      outlet.unreserve(ids.filter((id) => id === outlet.channel.connectorId).length);
    return ids.toSorted();
  };
  const sharing = [
    { ...a, weight: 9 },
    { ...b, weight: 1 },
  ];
  expect(handOut(sharing)).toEqual(["a", "b", "b", "b", undefined]);
  expect(handOut([{ ...b, weight: 1 }])).toEqual(["b", "b", "b", undefined, undefined]);
});

test("a connector that was full or gone for a while makes up for nothing when it is back", () => {
  const [a, b] = [openOutlet("a", 1), openOutlet("b", 1)];
  const both: Choice = {
    sharing: [
      { ...a, weight: 9 },
      { ...b, weight: 1 },
    ],
    probed: [],
  };
  const fresh = claimEach(createBalancer(createHeldClock()), both, 10);
  expect(fresh.filter((id) => id === "b")).toHaveLength(1);
  const balancer = createBalancer(createHeldClock());
  claimEach(balancer, both, 4);
  a.slots.free = 0;
  expect(claimEach(balancer, both, 10)).toEqual(Array(10).fill("b"));
  a.slots.free = 1;
  b.slots.free = 0;
  claimEach(balancer, both, 1);
  b.slots.free = 1;
  expect(claimEach(balancer, both, 10)).toEqual(fresh);
});

test("one message in twenty goes to a connector that is passed over, where that has a slot", () => {
  const [a, b] = [openOutlet("a", 1), openOutlet("b", 1)];
  const choice = { sharing: [{ ...a, weight: 1 }], probed: [b.outlet] };
  const balancer = createBalancer(createHeldClock());
  const went = claimEach(balancer, choice, 100);
  expect(went.filter((id) => id === "b")).toHaveLength(5);
  b.slots.free = 0;
  expect(new Set(claimEach(balancer, choice, 100))).toEqual(new Set(["a"]));
});

test("several that are passed over get their messages in turn, so that the second is found well before the first is", () => {
  const [a, b, c] = [openOutlet("a", 1), openOutlet("b", 1), openOutlet("c", 1)];
  const choice = { sharing: [{ ...a, weight: 1 }], probed: [b.outlet, c.outlet] };
  const balancer = createBalancer(createHeldClock());
  const probes = (count: number) => claimEach(balancer, choice, count).filter((id) => id !== "a");
  expect(probes(80)).toEqual(["c", "b", "c", "b"]);
  c.slots.free = 0;
  expect(probes(40)).toEqual(["b", "b"]);
});

test("where the others leave through other processes, one message in ten seconds goes to one that is passed over", async () => {
  const clock = createHeldClock();
  const [awaited, a, b] = [openOutlet("awaited", 0, true), openOutlet("a", 0), openOutlet("b", 1)];
  const choice = { sharing: [{ ...awaited, weight: 1 }], probed: [a.outlet, b.outlet] };
  const balancer = createBalancer(clock);
  // A claim that finds no job takes no slot, and does not count.
  balancer.reserve(choice, 500)?.release();
  expect(b.slots.free).toBe(1);
  for (let round = 0; round < 2; round++) {
    expect(claimEach(balancer, choice, 3)).toEqual(["b", "none", "none"]);
    await clock.advance(9_999);
    expect(claimEach(balancer, choice, 1)).toEqual(["none"]);
    await clock.advance(1);
  }
  // What is only full takes the next one.
  const full = { ...choice, sharing: [{ ...openOutlet("full", 0), weight: 1 }] };
  expect(claimEach(balancer, full, 1)).toEqual(["none"]);
});
