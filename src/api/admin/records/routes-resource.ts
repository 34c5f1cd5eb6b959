import Type from "typebox";
import { eachRecord } from "../../../core/lists/each-record.ts";
import { present } from "../../../core/present.ts";
import type { Route } from "../../../core/records/accounts.ts";
import { conditionKey } from "../../../core/records/routes.ts";
import type { Records } from "../../../store/store.ts";
import type { Endpoint } from "../../endpoint.ts";
import { conflict } from "../../errors.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { givenFields } from "../given-fields.ts";
import {
  type Cleared,
  createEndpoint,
  deleteEndpoint,
  showEndpoint,
  updateEndpoint,
} from "../record-endpoints.ts";
import { listEndpoint } from "../record-list.ts";
import type { RecordPlan } from "../record-plan.ts";
import {
  conditionsOf,
  connectorsOf,
  judgeRoute,
  routeFields,
  shownConnectors,
  withoutUnchangedList,
} from "./route-draft.ts";

/** Routes: which messages go over which connectors, and in what order. */
export function routeEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const plan: RecordPlan<"routes"> = { ...shownPlan, onChanged: deps.onConfigChanged };
  return [
    createRoute(deps, plan),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateRoute(deps, plan),
    deleteEndpoint(deps, plan, { usedBy: async () => ["messages that wait in its queue"] }),
  ];
}

const { channel, match, sender, category, connectors, connectorIds, failover } = routeFields;

const changeable = {
  match: Type.Optional(match),
  sender: Type.Optional(sender),
  category: Type.Optional(category),
  connectors: Type.Optional(connectors),
  connector_ids: Type.Optional(connectorIds),
  failover: Type.Optional(failover),
};

function createRoute(deps: AdminDeps, plan: RecordPlan<"routes">): Endpoint {
  return createEndpoint(deps, plan, {
    schema: Type.Object({ account_id: Type.Optional(givenFields.account_id), channel, ...changeable }),
    judge: ({ valid, errors }) => judgeRoute(deps, valid, { errors, isNew: true }),
    async toRecord(given, stamp) {
      const { connectorIds = [], weights } = connectorsOf(given) ?? {};
      const route: Route = present({
        ...stamp,
        channel: given.channel,
        match: "",
        ...conditionsOf(given.channel, given),
        connectorIds,
        weights: weights ?? undefined,
        failover: given.failover,
      });
      await refuseTwin(deps.store.records, route);
      return route;
    },
  });
}

function updateRoute(deps: AdminDeps, plan: RecordPlan<"routes">): Endpoint {
  return updateEndpoint(deps, plan, {
    schema: Type.Object(changeable),
    // A plain list takes weights away, though it names the same connectors.
    meant: ["connectors", "connector_ids"],
    clearable: { sender: "sender", category: "category", failover: "failover" },
    judge: ({ valid, errors }, current) =>
      judgeRoute(
        deps,
        { ...withoutUnchangedList(valid, current), channel: current.channel },
        { errors, isNew: false },
      ),
    async toChanges(given, current, cleared) {
      const conditions = conditionsOf(current.channel, given);
      const changed = without(cleared, { ...current, ...conditions });
      // There may be an old twin in another spelling; it must not keep the rest of the route from being changed.
      if (!leadsSame(current, changed)) await refuseTwin(deps.store.records, changed);
      // `null` clears: a plain list of connectors takes the weights away.
      const named = connectorsOf(withoutUnchangedList(given, current)) as Partial<Route> | undefined;
      return { ...conditions, ...named, ...present({ failover: given.failover }) };
    },
  });
}

function without(cleared: Cleared, route: Route): Route {
  return Object.fromEntries(
    Object.entries(route).filter(([field]) => !(field in cleared)),
  ) as object as Route;
}

const shownPlan: RecordPlan<"routes"> = {
  kind: "routes",
  path: "routes",
  noun: "route",
  operation: "Route",
  idName: "route_id",
  filters: { account_id: "accountId" },
  calledBy: { match: "match", sender: "sender" },
  shown: Type.Object({
    account_id: Type.Optional(Type.String({ format: "uuid", description: "Absent: every live account" })),
    channel,
    match,
    sender: Type.Optional(sender),
    category: Type.Optional(category),
    connectors,
    connector_ids: connectorIds,
    failover,
  }),
  show: toResource,
};

function toResource(route: Route) {
  return {
    account_id: route.accountId,
    channel: route.channel,
    match: route.match,
    sender: route.sender,
    category: route.category,
    connectors: shownConnectors(route),
    connector_ids: route.connectorIds,
    failover: route.failover ?? "safe",
  };
}

/** If two routes had the same conditions, only the older would ever be chosen, and the newer would silently do nothing. */
async function refuseTwin(records: Records, route: Route): Promise<void> {
  for await (const other of eachRecord((page) => records.list("routes", {}, page))) {
    if (other.id !== route.id && leadsSame(other, route)) {
      throw conflict({ match: `taken by the route ${other.id}` });
    }
  }
}

function leadsSame(one: Route, other: Route): boolean {
  const { accountId, channel, category } = one;
  if (accountId !== other.accountId || channel !== other.channel || category !== other.category) return false;
  return (["match", "sender"] as const).every((name) => keyAt(one, name) === keyAt(other, name));
}

function keyAt(route: Route, condition: "match" | "sender"): string | undefined {
  const value = route[condition];
  return value === undefined ? undefined : conditionKey(route.channel, value);
}
