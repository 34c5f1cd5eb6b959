import { HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import type { Route } from "../../core/records/accounts.ts";
import type { Outlet } from "./outlet.ts";

/** The outlet of one connector of a route, and its weight within its place. */
export interface WeightedOutlet {
  readonly outlet: Outlet;
  readonly weight: number;
}

/** Connectors that share one place in a route's order of preference. */
type Place = readonly WeightedOutlet[];

/** Which outlets take a route's messages now. */
export interface Choice {
  /** At least one; they share the messages by weight. */
  readonly sharing: readonly WeightedOutlet[];
  /** Outlets that are up, but passed over for their health. They get a few messages, to see whether they have recovered. */
  readonly probed: readonly Outlet[];
}

/**
 * The first place with a healthy connector serves. If no place has one, the healthiest connector of all serves, together with
 * those in its place that score as high. `undefined`: none is up.
 */
export function chooseOutlets(places: readonly Place[]): Choice | undefined {
  const scored = places.map((place) => place.filter(({ outlet }) => outlet.isUp()).map(withScore));
  const best = Math.max(...scored.flat().map(({ score }) => score));
  if (best === Number.NEGATIVE_INFINITY) return undefined;
  const enough = Math.min(best, HEALTHY_SCORE);
  const serving = scored.findIndex((place) => place.some(({ score }) => score >= enough));
  const passedOver = scored
    .slice(0, serving + 1)
    .flat()
    .filter(({ score }) => score < enough);
  return {
    sharing: (scored[serving] ?? []).filter(({ score }) => score >= enough),
    probed: passedOver.map(({ outlet }) => outlet),
  };
}

function withScore(weighted: WeightedOutlet) {
  return { ...weighted, score: weighted.outlet.health().score };
}

/** A route's connectors, in places in order of preference. Neighbours that have a weight share a place. */
export function placesOf(
  { connectorIds, weights = {} }: Pick<Route, "connectorIds" | "weights">,
  outletOf: (connectorId: string) => Outlet | undefined,
): readonly Place[] {
  const places: WeightedOutlet[][] = [];
  /** The place before, if its connectors have weights, so that the next one may share it. */
  let shared: WeightedOutlet[] | undefined;
  for (const id of connectorIds) {
    const weight = weights[id];
    const joined = weight === undefined ? undefined : shared;
    const place = joined ?? [];
    if (!joined) places.push(place);
    shared = weight === undefined ? undefined : place;
    const outlet = outletOf(id);
    if (outlet) place.push({ outlet, weight: weight ?? 1 });
  }
  return places;
}
