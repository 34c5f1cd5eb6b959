import Type from "typebox";
import type { Route } from "../../core/accounts.ts";
import { domainOf, parseEmailAddress } from "../../core/email-address.ts";
import type { ErrorCollector } from "../../core/field-errors.ts";
import type { ChannelName } from "../../core/message.ts";
import { present } from "../../core/present.ts";
import { toIso } from "../../core/timestamp.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Records } from "../../store/store.ts";
import type { Endpoint } from "../endpoint.ts";
import { conflict } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import {
  createEndpoint,
  deleteEndpoint,
  listEndpoint,
  showEndpoint,
  updateEndpoint,
} from "./record-endpoints.ts";
import type { RecordPlan } from "./record-plan.ts";
import { givenFields, shownFields } from "./shown-fields.ts";

export function routeEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const plan: RecordPlan<"routes"> = { ...shownPlan, onChanged: deps.onConfigChanged };
  return [
    createEndpoint(deps, plan, {
      schema: Type.Object({
        account_id: Type.Optional(givenFields.account_id),
        channel,
        match: Type.Optional(match),
        connector_ids: connectorIds,
      }),
      judge: ({ sound, errors }) => judge(deps, sound, errors),
      async toRecord(given, { id, now }) {
        const route: Route = present({
          id,
          accountId: given.account_id?.toLowerCase(),
          channel: given.channel,
          match: normalisedMatch(given.channel, given.match ?? ""),
          connectorIds: given.connector_ids.map((each) => each.toLowerCase()),
          createdAt: now,
        });
        await refuseTwin(deps.store.records, route);
        return route;
      },
    }),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateEndpoint(deps, plan, {
      schema: Type.Object({
        match: Type.Optional(match),
        connector_ids: Type.Optional(connectorIds),
      }),
      judge: ({ sound, errors }, current) => judge(deps, { ...sound, channel: current.channel }, errors),
      async toChanges(given, current) {
        const match = normalisedMatch(current.channel, given.match ?? current.match);
        await refuseTwin(deps.store.records, { ...current, match });
        return present({ match, connectorIds: given.connector_ids?.map((each) => each.toLowerCase()) });
      },
    }),
    deleteEndpoint(deps, plan, { usedBy: async () => ["messages that wait in its queue"] }),
  ];
}

const channel = Type.Enum(["sms", "email"], { type: "string" });

const match = Type.String({
  maxLength: 255,
  description:
    "SMS: the digits numbers start with, without `+`. Email: the recipients' domain. Empty or absent: all",
});

const connectorIds = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: 20,
  description: "In the order in which they are tried",
});

const shownPlan: RecordPlan<"routes"> = {
  kind: "routes",
  path: "routes",
  noun: "route",
  operation: "Route",
  idName: "route_id",
  filters: { account_id: "accountId" },
  shown: Type.Object({
    id: shownFields.id,
    account_id: Type.Optional(Type.String({ format: "uuid", description: "Absent: every live account" })),
    channel,
    match,
    connector_ids: connectorIds,
    created_at: shownFields.created_at,
  }),
  show: toResource,
};

function toResource(route: Route) {
  return {
    id: route.id,
    account_id: route.accountId,
    channel: route.channel,
    match: route.match,
    connector_ids: route.connectorIds,
    created_at: toIso(route.createdAt),
  };
}

interface SoundRoute {
  readonly channel?: ChannelName | undefined;
  readonly match?: string | undefined;
  readonly connector_ids?: readonly (string | undefined)[] | undefined;
}

async function judge(deps: AdminDeps, sound: SoundRoute, errors: ErrorCollector): Promise<void> {
  if (sound.channel !== undefined && sound.match !== undefined) {
    const problem = matchProblem(sound.channel, normalisedMatch(sound.channel, sound.match));
    if (problem !== undefined) errors.add("match", problem);
  }
  const ids = sound.connector_ids ?? [];
  for (const [index, id] of ids.entries()) {
    const isRepeated = ids.indexOf(id) !== index;
    const reason = isRepeated ? "is named twice" : await connectorProblem(deps, id, sound.channel);
    const at = `connector_ids.${index}`;
    if (reason) errors.addEntry("connector_ids", { index, total: ids.length, at, reason });
  }
}

async function connectorProblem(
  { store, connectorKinds }: AdminDeps,
  id: string | undefined,
  wanted: ChannelName | undefined,
): Promise<string | undefined> {
  if (id === undefined) return undefined;
  const connector = isUuid(id) ? await store.records.find("connectors", { id: id.toLowerCase() }) : undefined;
  if (!connector) return "no such connector";
  const kind = connectorKinds.find((each) => each.kind === connector.kind);
  if (!kind || wanted === undefined || kind.channel === wanted) return undefined;
  return `${connector.name} is a connector for ${kind.channel}, not for ${wanted}`;
}

function normalisedMatch(to: ChannelName, written: string): string {
  return to === "sms" ? written.replace(/^\+/, "") : written.replace(/^@/, "").toLowerCase();
}

function matchProblem(to: ChannelName, normalised: string): string | undefined {
  if (normalised === "") return undefined;
  if (to === "sms")
    return /^[1-9]\d{0,14}$/.test(normalised) ? undefined : "must be 1 to 15 digits, for example 91";
  const isDomain = domainOf(parseEmailAddress(`a@${normalised}`) ?? "") === normalised;
  return isDomain ? undefined : "must be a domain, for example example.com";
}

/** Of two routes for the same messages only the older would ever be chosen: the newer would silently do nothing. */
async function refuseTwin(records: Records, route: Route): Promise<void> {
  let after: string | undefined;
  do {
    const page = await records.list("routes", {}, { limit: PAGE, ...(after && { after }) });
    const twin = page.find((each) => each.id !== route.id && leadsSame(each, route));
    if (twin) throw conflict({ match: `taken by the route ${twin.id}` });
    after = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (after);
}

function leadsSame(one: Route, other: Route): boolean {
  return one.accountId === other.accountId && one.channel === other.channel && one.match === other.match;
}

const PAGE = 1000;
