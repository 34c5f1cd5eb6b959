import Type, { type TSchema } from "typebox";
import {
  CHANNEL_ALARMS,
  type ConnectorKind,
  type ConnectorStatus,
  callbackPath,
} from "../../../channels/channel.ts";
import { eachRecord } from "../../../core/each-record.ts";
import { CHANNELS } from "../../../core/messages/message.ts";
import { present } from "../../../core/present.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { readSetting } from "../../../core/records/settings.ts";
import { toIso } from "../../../core/timestamp.ts";
import type { Records } from "../../../store/store.ts";
import type { Endpoint } from "../../endpoint.ts";
import { CONNECTOR_STATE, HEALTH, toHealth } from "../../health-resource.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { givenFields } from "../given-fields.ts";
import {
  createEndpoint,
  deleteEndpoint,
  listEndpoint,
  showEndpoint,
  updateEndpoint,
} from "../record-endpoints.ts";
import { adminPath, type RecordPlan } from "../record-plan.ts";
import {
  type ConnectorSettings,
  changeSettings,
  type SettingsChange,
  withDefaults,
} from "./connector-config.ts";
import { testEndpoint } from "./connector-test.ts";

/** Connectors: the configured connections to providers, with their state in this process. */
export function connectorEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const plan = planOf(deps);
  return [
    createConnector(deps, plan),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateConnector(deps, plan),
    deleteEndpoint(deps, plan, { usedBy: (connector) => usersOf(deps.store.records, connector) }),
    testEndpoint(deps),
    kindsEndpoint(deps),
  ];
}

function createConnector(deps: AdminDeps, plan: RecordPlan<"connectors">): Endpoint {
  const kinds = deps.connectorKinds.map((each) => each.kind);
  const schema = Type.Object({
    kind: Type.Enum(kinds, { type: "string" }),
    name: Type.Optional(givenFields.name),
    config: Type.Optional(config),
    is_enabled: isEnabled,
  });
  return createEndpoint(deps, plan, {
    schema,
    judge({ valid, errors }) {
      const kind = kindNamed(deps, valid.kind);
      if (kind) changeSettings(kind, { given: valid.config }, errors);
    },
    async toRecord(given, { id, now }) {
      const kind = kindNamed(deps, given.kind);
      const settings = kind ? settingsOf(deps, kind, { given: given.config }) : { config: {}, secrets: {} };
      return {
        id,
        name: given.name ?? (await freeName(deps.store.records, given.kind)),
        kind: given.kind,
        ...settings,
        isEnabled: given.is_enabled ?? true,
        createdAt: now,
      };
    },
  });
}

function updateConnector(deps: AdminDeps, plan: RecordPlan<"connectors">): Endpoint {
  const schema = Type.Object({
    name: Type.Optional(givenFields.name),
    config: Type.Optional(config),
    is_enabled: isEnabled,
  });
  return updateEndpoint(deps, plan, {
    schema,
    judge({ valid, errors }, current) {
      const kind = kindNamed(deps, current.kind);
      // What is stored may be older than a rule: it must not keep a connector from being disabled.
      if (kind && valid.config) changeSettings(kind, { current, given: valid.config }, errors);
    },
    toChanges(given, current) {
      const kind = kindNamed(deps, current.kind);
      const settings = kind && given.config ? settingsOf(deps, kind, { current, given: given.config }) : {};
      return { ...present({ name: given.name, isEnabled: given.is_enabled }), ...settings };
    },
  });
}

/** The settings after a change. If callbacks need a token and there is none, or it was cleared, a new one is added. */
function settingsOf(deps: AdminDeps, kind: ConnectorKind, change: SettingsChange): ConnectorSettings {
  const { config, secrets } = changeSettings(kind, change);
  const { tokenSecret, isUsedBy = () => true } = kind.callbacks ?? {};
  if (tokenSecret === undefined || secrets[tokenSecret] !== undefined) return { config, secrets };
  if (!isUsedBy(config)) return { config, secrets };
  const token = Buffer.from(deps.randomBytes(TOKEN_BYTES)).toString("base64url");
  return { config, secrets: { ...secrets, [tokenSecret]: token } };
}

const TOKEN_BYTES = 24;

function kindNamed({ connectorKinds }: AdminDeps, name: string | undefined): ConnectorKind | undefined {
  return connectorKinds.find((each) => each.kind === name);
}

const config = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      "The fields of the kind (see connector-kinds), secrets among them. A secret is never shown again. " +
      "In a change, only what is given changes, and null clears",
  },
);

const isEnabled = Type.Optional(Type.Boolean({ description: "A disabled connector takes no messages" }));

function planOf(deps: AdminDeps): RecordPlan<"connectors"> {
  return {
    kind: "connectors",
    path: "connectors",
    noun: "connector",
    operation: "Connector",
    idName: "connector_id",
    filters: {},
    shown: Type.Object({
      name: Type.String(),
      kind: Type.String(),
      channel: Type.Optional(Type.Enum(CHANNELS)),
      config: Type.Object({}, { additionalProperties: true, description: "Defaults filled in" }),
      secrets: Type.Object({}, { additionalProperties: Type.Literal("set") }),
      callback_path: Type.Optional(
        Type.String({
          description: "Path of the URL to which the provider sends receipts, after the setting public_url",
        }),
      ),
      callback_url: Type.Optional(Type.String({ description: "The whole URL, if public_url is set" })),
      is_enabled: Type.Boolean(),
      status,
    }),
    show: (connector) => toResource(deps, connector),
    onChanged: deps.onConfigChanged,
  };
}

const status = Type.Object({
  state: CONNECTOR_STATE,
  since: Type.Optional(Type.String({ format: "date-time" })),
  reason: Type.Optional(Type.String()),
  binds: Type.Optional(
    Type.Object(
      { up: Type.Integer(), of: Type.Integer() },
      { description: "How many connections are up, of how many configured" },
    ),
  ),
  rate: Type.Optional(
    Type.Object(
      { per_second: Type.Number(), is_reduced: Type.Boolean() },
      {
        description:
          "What it sends at the most now; reduced while the provider asks for less than is configured",
      },
    ),
  ),
  health: Type.Optional(HEALTH),
  alarm: Type.Optional(
    Type.Enum(CHANNEL_ALARMS, {
      description: "A fault that an operator has to fix: it does not go away by itself",
    }),
  ),
});

function toStatus(live: ConnectorStatus | undefined) {
  if (!live) return { state: "unknown" };
  const { state, since, reason, binds, rate, alarm, health } = live;
  const shownRate = rate && {
    per_second: Math.round(rate.perSecond * 10) / 10,
    is_reduced: rate.isReduced,
  };
  return {
    state,
    since: toIso(since),
    reason,
    binds,
    rate: shownRate,
    alarm,
    health: health && toHealth(health),
  };
}

async function toResource(deps: AdminDeps, connector: Connector) {
  const kind = kindNamed(deps, connector.kind);
  return {
    name: connector.name,
    kind: connector.kind,
    channel: kind?.channel,
    config: withDefaults(kind, connector.config),
    secrets: Object.fromEntries(Object.keys(connector.secrets).map((name) => [name, "set"])),
    ...(await callbackOf(deps, kind, connector)),
    is_enabled: connector.isEnabled,
    status: toStatus(deps.connectorStatus(connector.id)),
  };
}

async function callbackOf(deps: AdminDeps, kind: ConnectorKind | undefined, { id, secrets }: Connector) {
  const token = kind?.callbacks && secrets[kind.callbacks.tokenSecret];
  if (token === undefined) return {};
  const path = callbackPath(id, token);
  const publicUrl = readSetting(await deps.store.records.settings(undefined), "public_url");
  return { callback_path: path, ...(publicUrl !== undefined && { callback_url: publicUrl + path }) };
}

/** The kind as a name, then `smpp-2` and so on: with one connector of a kind, the kind says enough. */
async function freeName(records: Records, kind: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? kind : `${kind}-${number}`;
    if (!(await records.find("connectors", { name }))) return name;
  }
}

/** What names a connector, in words; `MAX_NAMED` of a kind at most. */
async function usersOf(records: Records, { id }: Connector): Promise<readonly string[]> {
  const routes: string[] = [];
  for await (const route of eachRecord((page) => records.list("routes", {}, page))) {
    if (route.connectorIds.includes(id)) routes.push(`the route ${route.id}`);
    if (routes.length === MAX_NAMED) break;
  }
  const numbers = await records.list("inboundNumbers", { connectorId: id }, { limit: MAX_NAMED });
  return [...routes, ...numbers.map((number) => `the inbound number ${number.id}`)];
}

const MAX_NAMED = 10;

function kindsEndpoint(deps: AdminDeps): Endpoint {
  const kinds = deps.connectorKinds.map(({ kind, channel, config: schema, secrets }) => ({
    kind,
    channel,
    config: schema,
    secrets: Object.keys(secrets),
    secret_descriptions: secrets,
  }));
  const anySchema: TSchema = Type.Object({}, { additionalProperties: true });
  return {
    auth: "admin",
    tag: "Admin: connectors",
    method: "GET",
    path: adminPath("connector-kinds"),
    operation: "listConnectorKinds",
    summary: "List the kinds of connectors with the JSON schema of their configuration",
    responses: {
      200: {
        description: "All of them",
        schema: Type.Object({
          data: Type.Array(
            Type.Object({
              kind: Type.String(),
              channel: Type.Enum(CHANNELS),
              config: anySchema,
              secrets: Type.Array(Type.String()),
              secret_descriptions: Type.Record(Type.String(), Type.String()),
            }),
          ),
        }),
      },
    },
    handle: () => Response.json({ data: kinds }),
  };
}
