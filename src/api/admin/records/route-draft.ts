/** The fields of a route in a request: their schemas, checks, and conversion to what is stored. */
import { isDeepStrictEqual } from "node:util";
import Type from "typebox";
import type { ErrorCollector } from "../../../core/body/field-errors.ts";
import { domainOf, parseEmailAddress } from "../../../core/email/email-address.ts";
import { CHANNELS, type ChannelName } from "../../../core/messages/message.ts";
import { present } from "../../../core/present.ts";
import { FAILOVERS, type Route } from "../../../core/records/accounts.ts";
import { SMS_CATEGORIES, type SmsCategory } from "../../../core/sms/sms-category.ts";
import { fitsSourceAddr, NOT_A_SOURCE_ADDR } from "../../../core/sms/source-addr.ts";
import { domainKey } from "../../../core/suppressions/address-key.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { NOT_A_DOMAIN } from "../domains/domain-name.ts";
import { connectorProblem } from "../draft.ts";

const connectorId = Type.String({ minLength: 1, maxLength: 64 });

const weight = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description:
    "Neighbours that have a weight share one place in the order, and the messages in proportion to it",
});

export const routeFields = {
  channel: Type.Enum(CHANNELS, { type: "string" }),
  match: Type.String({
    maxLength: 255,
    description:
      "SMS: the digits numbers start with, without `+`. Email: the recipients' domain. Empty or absent: all",
  }),
  sender: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "SMS: the sender id that goes out. Email: the domain of the From address. Absent: any",
  }),
  category: Type.Enum(SMS_CATEGORIES, {
    type: "string",
    description: "SMS: the DLT category of the template. Absent: any",
  }),
  connectors: Type.Array(Type.Object({ connector_id: connectorId, weight: Type.Optional(weight) }), {
    minItems: 1,
    maxItems: 20,
    description:
      "In the order in which they are tried. Neighbours that have a weight share one place, and the messages in proportion to it",
  }),
  connectorIds: Type.Array(connectorId, {
    minItems: 1,
    maxItems: 20,
    description: "The ids alone, where none has a weight: either these or `connectors`",
  }),
  failover: Type.Enum(FAILOVERS, {
    type: "string",
    description:
      "`safe`: a message that one connector may have taken goes over no other. `always`: it may, and may arrive twice",
  }),
};

/** The fields that the schema accepts. */
export interface RouteDraft {
  readonly channel?: ChannelName | undefined;
  readonly match?: string | undefined;
  readonly sender?: string | undefined;
  readonly category?: SmsCategory | undefined;
  readonly connectors?:
    | readonly (
        | { readonly connector_id?: string | undefined; readonly weight?: number | undefined }
        | undefined
      )[]
    | undefined;
  readonly connector_ids?: readonly (string | undefined)[] | undefined;
}

/** Notes what the schema cannot check. A new route must name its connectors. */
export async function judgeRoute(
  deps: AdminDeps,
  draft: RouteDraft,
  { errors, isNew }: { readonly errors: ErrorCollector; readonly isNew: boolean },
): Promise<void> {
  judgeConditions(draft, errors);
  const { connectors, connector_ids: ids } = draft;
  const isMissing = !connectors && !ids && !errors.has("connectors") && !errors.has("connector_ids");
  if (isNew && isMissing)
    for (const name of BOTH) errors.add(name, "either connectors or connector_ids is required");
  if (connectors && ids)
    for (const name of BOTH) errors.add(name, "give connectors or connector_ids, not both");
  await judgeConnectors(deps, {
    field: "connector_ids",
    ids: ids ?? [],
    at: (index) => `connector_ids.${index}`,
    channel: draft.channel,
    errors,
  });
  await judgeConnectors(deps, {
    field: "connectors",
    ids: connectors?.map((each) => each?.connector_id) ?? [],
    at: (index) => `connectors.${index}.connector_id`,
    channel: draft.channel,
    errors,
  });
}

const BOTH = ["connectors", "connector_ids"] as const;

function judgeConditions({ channel, match, sender, category }: RouteDraft, errors: ErrorCollector): void {
  if (channel === undefined) return;
  const wrongMatch = match === undefined ? undefined : matchProblem(channel, normalisedMatch(channel, match));
  if (wrongMatch !== undefined) errors.add("match", wrongMatch);
  const wrongSender =
    sender === undefined ? undefined : senderProblem(channel, normalisedSender(channel, sender));
  if (wrongSender !== undefined) errors.add("sender", wrongSender);
  if (category !== undefined && channel !== "sms") errors.add("category", "is of SMS templates only");
}

interface NamedConnectors {
  readonly field: (typeof BOTH)[number];
  /** `undefined` where the schema refused the entry. */
  readonly ids: readonly (string | undefined)[];
  readonly channel: ChannelName | undefined;
  readonly errors: ErrorCollector;
  /** The name under which a problem of an entry is reported. */
  at(index: number): string;
}

async function judgeConnectors(
  deps: AdminDeps,
  { field, ids, channel, errors, at }: NamedConnectors,
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    if (id === undefined) continue;
    const isRepeated = ids.indexOf(id) !== index;
    const reason = isRepeated ? "is named twice" : await connectorProblem(deps, id, channel);
    if (reason) errors.addEntry(field, { index, total: ids.length, at: at(index), reason });
  }
}

/** The connectors that a valid draft names, and their weights (`null`: none has one); `undefined` if it names none. */
export function connectorsOf(given: {
  readonly connectors?: readonly { readonly connector_id: string; readonly weight?: number }[];
  readonly connector_ids?: readonly string[];
}): (Pick<Route, "connectorIds"> & { readonly weights: Route["weights"] | null }) | undefined {
  const named =
    given.connectors ?? given.connector_ids?.map((id) => ({ connector_id: id, weight: undefined }));
  if (!named) return undefined;
  const weighted = named.flatMap((each) =>
    each.weight === undefined ? [] : [[each.connector_id.toLowerCase(), each.weight] as const],
  );
  return {
    connectorIds: named.map((each) => each.connector_id.toLowerCase()),
    weights: weighted.length > 0 ? Object.fromEntries(weighted) : null,
  };
}

/** The connectors of a route as answers show them. */
export function shownConnectors({ connectorIds, weights }: Route) {
  return connectorIds.map((id) => present({ connector_id: id, weight: weights?.[id] }));
}

/**
 * A change without that one of its two lists of connectors which says what the route shows already: whoever sends back what was read has
 * changed the other.
 */
export function withoutUnchangedList<Given extends RouteDraft>(given: Given, current: Route): Given {
  const { connectors, connector_ids: ids } = given;
  if (!connectors || !ids) return given;
  if (isDeepStrictEqual(ids, current.connectorIds)) return { ...given, connector_ids: undefined };
  return isDeepStrictEqual(connectors, shownConnectors(current))
    ? { ...given, connectors: undefined }
    : given;
}

/** The conditions of a valid draft as they are stored. */
export function conditionsOf(
  channel: ChannelName,
  given: Pick<RouteDraft, "match" | "sender" | "category">,
): Partial<Pick<Route, "match" | "sender" | "category">> {
  return present({
    match: given.match === undefined ? undefined : normalisedMatch(channel, given.match),
    sender: given.sender === undefined ? undefined : normalisedSender(channel, given.sender),
    category: given.category,
  });
}

function normalisedMatch(channel: ChannelName, written: string): string {
  return channel === "sms" ? written.replace(/^\+/, "") : normalisedDomain(written);
}

function normalisedSender(channel: ChannelName, written: string): string {
  return channel === "sms" ? written : normalisedDomain(written);
}

function normalisedDomain(written: string): string {
  return domainKey(written.replace(/^@/, ""));
}

function matchProblem(channel: ChannelName, normalised: string): string | undefined {
  if (normalised === "") return undefined;
  if (channel === "sms")
    return /^[1-9]\d{0,14}$/.test(normalised) ? undefined : "must be 1 to 15 digits, for example 91";
  return domainProblem(normalised);
}

function senderProblem(channel: ChannelName, normalised: string): string | undefined {
  if (channel === "email") return domainProblem(normalised);
  return fitsSourceAddr(normalised) ? undefined : NOT_A_SOURCE_ADDR;
}

function domainProblem(normalised: string): string | undefined {
  const isDomain = domainOf(parseEmailAddress(`a@${normalised}`) ?? "") === normalised;
  return isDomain ? undefined : NOT_A_DOMAIN;
}
