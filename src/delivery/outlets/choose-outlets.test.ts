import { expect, test } from "bun:test";
import { chooseOutlets, placesOf } from "./choose-outlets.ts";
import type { Outlet } from "./outlet.ts";

test("only neighbours that both have a weight share a place, and one that is not open leaves its place to them", () => {
  const outletOf = (connectorId: string) =>
    connectorId === "closed" ? undefined : ({ channel: { connectorId } } as unknown as Outlet);
  const placed = (connectorIds: readonly string[], weights: Record<string, number>) =>
    placesOf({ connectorIds, weights }, outletOf).map((place) =>
      place.map(({ outlet, weight }) => `${outlet.channel.connectorId} ${weight}`),
    );
  expect(placed(["a", "b", "c", "d", "e"], { a: 2, b: 3, d: 4, e: 5 })).toEqual([
    ["a 2", "b 3"],
    ["c 1"],
    ["d 4", "e 5"],
  ]);
  expect(placed(["a", "closed", "b"], { a: 2, closed: 1, b: 3 })).toEqual([["a 2", "b 3"]]);
  expect(placed(["a", "closed", "b"], { a: 2, b: 3 })).toEqual([["a 2"], [], ["b 3"]]);
});

/** The scores of the connectors in each place; 0 is one that is down. */
type Scores = Readonly<Record<string, number>>;

test.each<[string, readonly Scores[], readonly string[], readonly string[]]>([
  ["the first that is healthy serves", [{ a: 0.5 }, { b: 1 }], ["a"], []],
  ["who shares its place serves too, if healthy", [{ a: 0.9, b: 0.5, c: 0.49 }], ["a", "b"], ["c"]],
  ["those before it that are not healthy are probed", [{ a: 0.4 }, { b: 0.6 }, { c: 1 }], ["b"], ["a"]],
  ["one that is down is not even probed", [{ a: 0 }, { b: 1 }], ["b"], []],
  ["where none is healthy the healthiest serves", [{ a: 0.1 }, { b: 0.3 }, { c: 0.2 }], ["b"], ["a"]],
  ["with those of its place that are as well", [{ a: 0.3, b: 0.3, c: 0.2 }, { d: 0.3 }], ["a", "b"], ["c"]],
])("of a route's connectors %s", (_, places, sharing, probed) => {
  const outlets = places.map((scores) =>
    Object.entries(scores).map(([connectorId, score]) => {
      const outlet = { channel: { connectorId }, isUp: () => score > 0, health: () => ({ score }) };
      return { outlet: outlet as unknown as Outlet, weight: 1 };
    }),
  );
  const choice = chooseOutlets(outlets);
  expect(choice?.sharing.map(({ outlet }) => outlet.channel.connectorId)).toEqual([...sharing]);
  expect(choice?.probed.map((outlet) => outlet.channel.connectorId)).toEqual([...probed]);
});

test("a route whose connectors are all down has none to serve", () => {
  expect(chooseOutlets([[], []])).toBeUndefined();
});
