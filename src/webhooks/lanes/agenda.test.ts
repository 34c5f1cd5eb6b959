import { expect, test } from "bun:test";
import type { Lane } from "../../core/webhooks/webhook-outbox.ts";
import { type Agenda, createAgenda } from "./agenda.ts";

const lane = (host: string): Lane => ({ accountId: "a", host });
const hosts = (agenda: Agenda) => [...agenda.open()].map((item) => item.lane.host);
const first = (agenda: Agenda) => [...agenda.open()][0]!;

test("lanes are looked at in turn, and each stands in it once", () => {
  const agenda = createAgenda();
  for (const host of ["x", "y", "x"]) agenda.add(lane(host));
  expect(hosts(agenda)).toEqual(["x", "y"]);
  agenda.toBack(first(agenda));
  expect(hosts(agenda)).toEqual(["y", "x"]);
});

test("a lane without room is out of the way until there is some, or something comes", () => {
  const agenda = createAgenda();
  agenda.add(lane("x"));
  agenda.park(first(agenda), false);
  agenda.makeRoom(lane("y"));
  expect(hosts(agenda)).toEqual([]);
  agenda.makeRoom(lane("x"));
  expect(hosts(agenda)).toEqual(["x"]);
  agenda.park(first(agenda), false);
  agenda.add(lane("x"));
  expect(hosts(agenda)).toEqual(["x"]);
});

test("those that others crowd out are called a few at a time, in turn, whenever any place comes free", () => {
  const agenda = createAgenda();
  const parkAll = () => {
    for (const item of [...agenda.open()]) agenda.park(item, true);
  };
  const called = () => {
    agenda.makeRoom(lane("elsewhere"));
    return hosts(agenda);
  };
  for (let n = 0; n < 20; n++) agenda.add(lane(`h${n}`));
  parkAll();
  expect(called()).toEqual(["h0", "h1", "h2", "h3"]);
  parkAll();
  // The first ones had no use for the place: they keep their turn, and others are called besides.
  expect(called()).toEqual(["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"]);
  agenda.toBack(first(agenda));
  parkAll();
  expect(called().slice(0, 4)).toEqual(["h1", "h2", "h3", "h4"]);
  parkAll();
  // What comes in does not cost the turn.
  agenda.add(lane("h1"));
  expect(hosts(agenda)).toEqual([]);
  expect(called()[0]).toBe("h1");
});

test("a crowded-out lane that turns out to have no room of its own is called no more for places of others", () => {
  const agenda = createAgenda();
  agenda.add(lane("x"));
  agenda.park(first(agenda), true);
  agenda.makeRoom(lane("elsewhere"));
  agenda.park(first(agenda), false);
  agenda.makeRoom(lane("elsewhere"));
  expect(hosts(agenda)).toEqual([]);
});

test("a full agenda leaves new lanes to polling, and hears of those that it knows", () => {
  const agenda = createAgenda(2);
  for (const host of ["x", "y", "z"]) agenda.add(lane(host));
  expect([hosts(agenda), agenda.size()]).toEqual([["x", "y"], 2]);
  const known = first(agenda);
  agenda.park(known, false);
  agenda.add(lane("x"));
  expect(hosts(agenda)).toEqual(["y", "x"]);
  agenda.drained(known, known.heard);
  agenda.add(lane("z"));
  expect([hosts(agenda), agenda.size()]).toEqual([["y", "z"], 2]);
});

test("the lane whose place comes free takes it behind those that wait", () => {
  const agenda = createAgenda();
  for (const host of ["x", "y"]) agenda.add(lane(host));
  for (const item of [...agenda.open()]) agenda.park(item, item.lane.host === "y");
  agenda.makeRoom(lane("x"));
  expect(hosts(agenda)).toEqual(["y", "x"]);
});

test("a drained lane is forgotten, unless something came while it was looked at", () => {
  const agenda = createAgenda();
  agenda.add(lane("x"));
  const item = first(agenda);
  const { heard } = item;
  agenda.add(lane("x"));
  agenda.drained(item, heard);
  expect(agenda.size()).toBe(1);
  agenda.drained(item, item.heard);
  expect([agenda.size(), hosts(agenda)]).toEqual([0, []]);
});

test("no more lanes are remembered than the limit says", () => {
  const agenda = createAgenda(2);
  for (const host of ["x", "y", "z"]) agenda.add(lane(host));
  expect(hosts(agenda)).toEqual(["x", "y"]);
});
