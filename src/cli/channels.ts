import { Value } from "typebox/value";
import { withDefaults } from "../api/admin/connectors/connector-config.ts";
import type { Channel, ChannelDeps, CheckReach, ConnectorKind } from "../channels/channel.ts";
import { mxConnectorKind } from "../channels/email/mx/mx-connector.ts";
import { smtpConnectorKind } from "../channels/email/smtp/smtp-connector.ts";
import { createSimulator } from "../channels/simulator/simulator.ts";
import { httpConnectorKind } from "../channels/sms/http/http-connector.ts";
import { smppConnectorKind } from "../channels/sms/smpp/smpp-connector.ts";
import type { Clock } from "../core/clock.ts";
import { CHANNELS } from "../core/messages/message.ts";
import type { Connector, Route } from "../core/records/accounts.ts";
import { SANDBOX_QUEUES } from "../core/records/routes.ts";
import type { SandboxLedger } from "../store/store.ts";

/** The kinds of connector that an operator can configure. */
export const CONNECTOR_KINDS: readonly ConnectorKind[] = [
  smppConnectorKind,
  httpConnectorKind,
  smtpConnectorKind,
  mxConnectorKind,
];

const SIMULATOR = "simulator";

/** The connectors and routes of sandbox accounts, which need no configuration. */
export const BUILT_IN = {
  connectors: CHANNELS.map(
    (channel): Connector => ({
      id: SANDBOX_QUEUES[channel],
      name: `sandbox ${channel}`,
      kind: SIMULATOR,
      config: { channel },
      secrets: {},
      isEnabled: true,
      createdAt: 0,
    }),
  ),
  routes: CHANNELS.map(
    (channel): Route => ({
      id: SANDBOX_QUEUES[channel],
      channel,
      match: "",
      connectorIds: [SANDBOX_QUEUES[channel]],
      createdAt: 0,
    }),
  ),
};

/** How many slots processes share of a connector; `undefined` if each process uses it without sharing. */
export function slotsOf(connector: Connector): number | undefined {
  return CONNECTOR_KINDS.find((each) => each.kind === connector.kind)?.slots?.(connector);
}

/** Opens the channel of a connector; `undefined` for an unknown kind. */
export function openChannel(
  connector: Connector,
  deps: ChannelDeps,
  ledger: SandboxLedger,
): Channel | undefined {
  if (connector.kind === SIMULATOR) {
    const channel = connector.config.channel === "email" ? "email" : "sms";
    return createSimulator({ ...deps, channel, connectorId: connector.id, ledger });
  }
  return CONNECTOR_KINDS.find((each) => each.kind === connector.kind)?.open(connector, deps);
}

/**
 * What `ConnectorKind.check` finds. A kind or configuration that only another version of the program knows is a finding too: that is
 * what an operator who tests the connector wants to know.
 */
export async function checkConnector(
  connector: Connector,
  clock: Clock,
  reach: CheckReach,
): ReturnType<ConnectorKind["check"]> {
  const kind = CONNECTOR_KINDS.find((each) => each.kind === connector.kind);
  if (!kind) return { ok: false, detail: `this version knows no connectors of kind ${connector.kind}` };
  if (!Value.Check(kind.config, withDefaults(kind, connector.config)))
    return { ok: false, detail: "its configuration is not one that this version knows" };
  return kind.check(connector, clock, reach);
}
