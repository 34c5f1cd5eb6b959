import { HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import type { Route } from "../../core/records/accounts.ts";
import type { Outlet } from "./outlet.ts";

/** One connector of a route, and how large its share is among those it shares a place with. */
export interface Offer {
  readonly outlet: Outlet;
  readonly weight: number;
}

/** Who takes a route's messages now. */
export interface Choice {
  /** At least one; they share by weight. */
  readonly sharing: readonly Offer[];
  /** Up, and passed over for their health: they get a small share, by which they can show that they are well again. */
  readonly probed: readonly Outlet[];
}

/** A route's connectors by their places in the order: neighbours that have a weight share one. */
export function placesOf(
  { connectorIds, weights = {} }: Pick<Route, "connectorIds" | "weights">,
  outletOf: (connectorId: string) => Outlet | undefined,
): readonly (readonly Offer[])[] {
  const places: Offer[][] = [];
  let shared: Offer[] | undefined;
  for (const id of connectorIds) {
    const weight = weights[id];
    const place = weight === undefined ? undefined : shared;
    const current = place ?? [];
    if (!place) places.push(current);
    shared = weight === undefined ? undefined : current;
    const outlet = outletOf(id);
    if (outlet) current.push({ outlet, weight: weight ?? 1 });
  }
  return places;
}

/**
 * The first place in the order that has a healthy connector serves; where none has, the healthiest connector, and
 * those of its place that are as well as it. `undefined`: none is up.
 */
export function chooseOutlets(places: readonly (readonly Offer[])[]): Choice | undefined {
  const scored = places.map((offers) => offers.filter(({ outlet }) => outlet.isUp()).map(withScore));
  const best = Math.max(...scored.flat().map(({ score }) => score));
  if (best === Number.NEGATIVE_INFINITY) return undefined;
  const enough = Math.min(best, HEALTHY_SCORE);
  const at = scored.findIndex((offers) => offers.some(({ score }) => score >= enough));
  const passedOver = scored
    .slice(0, at + 1)
    .flat()
    .filter(({ score }) => score < enough);
  return {
    sharing: (scored[at] ?? []).filter(({ score }) => score >= enough),
    probed: passedOver.map(({ outlet }) => outlet),
  };
}

function withScore(offer: Offer) {
  return { ...offer, score: offer.outlet.health().score };
}
