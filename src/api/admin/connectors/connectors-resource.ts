import Type from "typebox";
import type { ConnectorKind } from "../../../channels/channel.ts";
import { eachRecord } from "../../../core/lists/each-record.ts";
import { present } from "../../../core/present.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import type { Records } from "../../../store/store.ts";
import type { Answered } from "../../answer.ts";
import type { Call, Endpoint } from "../../endpoint.ts";
import { Refusal } from "../../errors.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { givenFields } from "../given-fields.ts";
import { createInTurn } from "../in-turn.ts";
import { createEndpoint, deleteEndpoint, showEndpoint, updateEndpoint } from "../record-endpoints.ts";
import { listEndpoint } from "../record-list.ts";
import { bodyOf, type RecordPlan } from "../record-plan.ts";
import { type ConnectorSettings, changeSettings, type SettingsChange } from "./connector-config.ts";
import { kindNamed, kindsEndpoint } from "./connector-kinds.ts";
import { shownConnector, toShownConnector } from "./connector-shape.ts";
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
  const inTurn = createInTurn();
  const endpoint = createEndpoint(deps, plan, {
    schema,
    judge({ valid, errors }) {
      const kind = kindNamed(deps, valid.kind);
      if (kind) changeSettings(kind, { given: valid.config }, errors);
    },
    async toRecord(given, stamp) {
      const kind = kindNamed(deps, given.kind);
      const settings = kind ? settingsOf(deps, kind, { given: given.config }) : { config: {}, secrets: {} };
      return {
        ...stamp,
        name: given.name ?? (await freeName(deps.store.records, usualName(given.kind, settings.config))),
        kind: given.kind,
        ...settings,
        isEnabled: given.is_enabled ?? true,
      };
    },
  });
  // Those that come at once without a name would all find the same one free; of those that come to other processes some do.
  const create = (call: Call) => inTurn("", async () => endpoint.handle(call));
  const handle = (call: Call) => (hasName(call) ? create(call) : untilNamed(() => create(call)));
  return { ...endpoint, handle };
}

function hasName(call: Call): boolean {
  const { name } = bodyOf(call);
  return name !== undefined && name !== null;
}

const MAX_NAMES_TRIED = 10;

/** Tries the next name where the one that was found free has been taken meanwhile. */
async function untilNamed(create: () => Promise<Answered>): Promise<Answered> {
  for (let tries = 1; ; tries++) {
    try {
      return await create();
    } catch (error) {
      const isTaken = error instanceof Refusal && error.status === 409;
      if (!isTaken || tries === MAX_NAMES_TRIED) throw error;
    }
  }
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
      if (kind && changesAny(valid.config)) changeSettings(kind, { current, given: valid.config }, errors);
    },
    toChanges(given, current) {
      const kind = kindNamed(deps, current.kind);
      const { config } = given;
      const settings = kind && changesAny(config) ? settingsOf(deps, kind, { current, given: config }) : {};
      return { ...present({ name: given.name, isEnabled: given.is_enabled }), ...settings };
    },
  });
}

/** The command line and the console name no fields where only something else is changed. */
function changesAny(config: object | undefined): boolean {
  return config !== undefined && Object.keys(config).length > 0;
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
    calledBy: { name: "name" },
    shown: shownConnector,
    instead: INSTEAD,
    changesByItself: ["status"],
    show: (connector) => toShownConnector(deps, connector),
    onChanged: deps.onConfigChanged,
  };
}

const OF_CALLBACKS = "follows from the token, which is a secret, and from the setting public_url";

const INSTEAD = {
  channel: "follows from the kind: create another connector instead",
  secrets: "says which secrets are set: give each under config, by its own name",
  callback_path: OF_CALLBACKS,
  callback_url: OF_CALLBACKS,
  status: "is what the connector reports: is_enabled turns it on and off",
} as const;

/** The provider, of a kind that has several, else the kind: this is what tells connectors apart in alarms. */
function usualName(kind: string, { provider }: Connector["config"]): string {
  return typeof provider === "string" && provider !== "custom" ? provider : kind;
}

/** The name, or `smpp-2` and so on where it is taken. */
async function freeName(records: Records, usual: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? usual : `${usual}-${number}`;
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
