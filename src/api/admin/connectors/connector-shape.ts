/** A connector as answers show it: its configuration without secrets, and its state in this process. */
import Type from "typebox";
import {
  CHANNEL_ALARMS,
  type ConnectorKind,
  type ConnectorStatus,
  callbackPath,
} from "../../../channels/channel.ts";
import { CHANNELS } from "../../../core/messages/message.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { readSetting } from "../../../core/records/settings.ts";
import { toIso } from "../../../core/time/timestamp.ts";
import { CONNECTOR_STATE, HEALTH, toHealth } from "../../health-resource.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { withDefaults } from "./connector-config.ts";
import { kindNamed } from "./connector-kinds.ts";

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

export const shownConnector = Type.Object({
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
});

export async function toShownConnector(deps: AdminDeps, connector: Connector) {
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
