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

test("those that others crowd out are called a few at a time whenever any place comes free", () => {
  const agenda = createAgenda();
  for (let n = 0; n < 20; n++) agenda.add(lane(`h${n}`));
  for (const item of [...agenda.open()]) agenda.park(item, true);
  agenda.makeRoom(lane("elsewhere"));
  expect(hosts(agenda)).toEqual(["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"]);
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
