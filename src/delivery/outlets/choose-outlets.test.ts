import { expect, test } from "bun:test";
import { placesOf } from "./choose-outlets.ts";
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
