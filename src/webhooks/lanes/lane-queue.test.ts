import { expect, test } from "bun:test";
import type { Lane } from "../../core/webhooks/webhook-outbox.ts";
import { createLaneQueue, type LaneQueue } from "./lane-queue.ts";

const lane = (host: string): Lane => ({ accountId: "a", host });
const hosts = (queue: LaneQueue) => [...queue.eligible()].map(({ lane }) => lane.host);
const first = (queue: LaneQueue) => [...queue.eligible()][0]!;

test("lanes are looked at in turn, and each has one place in line", () => {
  const queue = createLaneQueue();
  for (const host of ["x", "y", "x"]) queue.add(lane(host));
  expect(hosts(queue)).toEqual(["x", "y"]);
  queue.moveToBack(first(queue));
  expect(hosts(queue)).toEqual(["y", "x"]);
});

test("a lane without room is out of the way until there is some, or something comes", () => {
  const queue = createLaneQueue();
  queue.add(lane("x"));
  queue.setAside(first(queue), false);
  queue.addRoom(lane("y"));
  expect(hosts(queue)).toEqual([]);
  queue.addRoom(lane("x"));
  expect(hosts(queue)).toEqual(["x"]);
  queue.setAside(first(queue), false);
  queue.add(lane("x"));
  expect(hosts(queue)).toEqual(["x"]);
});

test("lanes that others crowd out are woken a few at a time, in turn, whenever any place comes free", () => {
  const queue = createLaneQueue();
  const setAllAside = () => {
    for (const each of [...queue.eligible()]) queue.setAside(each, true);
  };
  const woken = () => {
    queue.addRoom(lane("elsewhere"));
    return hosts(queue);
  };
  for (let n = 0; n < 20; n++) queue.add(lane(`h${n}`));
  setAllAside();
  expect(woken()).toEqual(["h0", "h1", "h2", "h3"]);
  setAllAside();
  // The first ones had no use for the place: they keep their turn, and others are woken besides.
  expect(woken()).toEqual(["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"]);
  queue.moveToBack(first(queue));
  setAllAside();
  expect(woken().slice(0, 4)).toEqual(["h1", "h2", "h3", "h4"]);
  setAllAside();
  // What comes in does not cost the turn.
  queue.add(lane("h1"));
  expect(hosts(queue)).toEqual([]);
  expect(woken()[0]).toBe("h1");
});

test("a crowded-out lane that turns out to have no room of its own is woken no more for places of others", () => {
  const queue = createLaneQueue();
  queue.add(lane("x"));
  queue.setAside(first(queue), true);
  queue.addRoom(lane("elsewhere"));
  queue.setAside(first(queue), false);
  queue.addRoom(lane("elsewhere"));
  expect(hosts(queue)).toEqual([]);
});

test("a full queue leaves new lanes to polling, and hears of those that it knows", () => {
  const queue = createLaneQueue(2);
  for (const host of ["x", "y", "z"]) queue.add(lane(host));
  expect([hosts(queue), queue.size()]).toEqual([["x", "y"], 2]);
  const known = first(queue);
  queue.setAside(known, false);
  queue.add(lane("x"));
  expect(hosts(queue)).toEqual(["y", "x"]);
  queue.drained(known, known.additions);
  queue.add(lane("z"));
  expect([hosts(queue), queue.size()]).toEqual([["y", "z"], 2]);
});

test("an account with lanes without end leaves room for those of others, and hears of its own once some are gone", () => {
  const queue = createLaneQueue(100);
  for (let n = 0; n < 200; n++) queue.add(lane(`h${n}`));
  expect(queue.size()).toBe(80);
  for (const accountId of ["b", "c"]) queue.add({ accountId, host: "h" });
  expect(queue.size()).toBe(82);
  for (const each of [...queue.eligible()].slice(0, 10)) queue.drained(each, each.additions);
  for (let n = 100; n < 200; n++) queue.add(lane(`h${n}`));
  expect(hosts(queue).filter((host) => host.startsWith("h1"))).not.toEqual([]);
  expect(queue.size()).toBeLessThan(100);
});

test("the lane whose place comes free takes it behind those that wait", () => {
  const queue = createLaneQueue();
  for (const host of ["x", "y"]) queue.add(lane(host));
  for (const each of [...queue.eligible()]) queue.setAside(each, each.lane.host === "y");
  queue.addRoom(lane("x"));
  expect(hosts(queue)).toEqual(["y", "x"]);
});

test("a drained lane is forgotten, unless something came while it was looked at", () => {
  const queue = createLaneQueue();
  queue.add(lane("x"));
  const known = first(queue);
  const { additions } = known;
  queue.add(lane("x"));
  queue.drained(known, additions);
  expect(queue.size()).toBe(1);
  queue.drained(known, known.additions);
  expect([queue.size(), hosts(queue)]).toEqual([0, []]);
});

test("lanes that are drained again and again leave their account's room as it was", () => {
  const queue = createLaneQueue(5);
  for (let n = 0; n < 100; n++) {
    queue.add(lane(`h${n}`));
    expect(hosts(queue)).toEqual([`h${n}`]);
    queue.drained(first(queue), first(queue).additions);
  }
  expect(queue.size()).toBe(0);
});

test("a lane that was crowded out is not woken any more once it is drained", () => {
  const queue = createLaneQueue();
  queue.add(lane("x"));
  const known = first(queue);
  queue.setAside(known, true);
  queue.drained(known, known.additions);
  queue.addRoom(lane("elsewhere"));
  expect(hosts(queue)).toEqual([]);
});

test("each lane that others crowd out is woken again and again, however little use the first ones have for a place", () => {
  const queue = createLaneQueue();
  const wakings = new Map<string, number>();
  for (let n = 0; n < 20; n++) queue.add(lane(`h${n}`));
  for (let place = 0; place < 50; place++) {
    for (const each of [...queue.eligible()]) queue.setAside(each, true);
    queue.addRoom(lane("elsewhere"));
    for (const host of hosts(queue)) wakings.set(host, (wakings.get(host) ?? 0) + 1);
  }
  expect(wakings.size).toBe(20);
  expect(Math.min(...wakings.values())).toBeGreaterThan(5);
});

test("no more lanes are remembered than the limit says", () => {
  const queue = createLaneQueue(2);
  for (const host of ["x", "y", "z"]) queue.add(lane(host));
  expect(hosts(queue)).toEqual(["x", "y"]);
});
