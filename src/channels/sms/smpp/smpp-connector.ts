import { isIP } from "node:net";
import type { Clock } from "../../../core/clock.ts";
import { errorText } from "../../../core/error-text.ts";
import { present } from "../../../core/present.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { type SmsSegments, segmentSms } from "../../../core/sms/sms-segments.ts";
import { authorityProblem } from "../../authority-problem.ts";
import type { ConnectorKind } from "../../channel.ts";
import { hostProblem } from "../../host-name.ts";
import { localAddressProblem } from "../../local-address.ts";
import { speaksTls } from "../../tls-advice.ts";
import { openSession, type SessionOptions } from "./session/session.ts";
import { tlvProblems, versionProblems } from "./setting-problems.ts";
import { openSmppChannel } from "./smpp-channel.ts";
import { readSmppConfig, type SmppConfig, sessionOptions, smppConfigSchema } from "./smpp-config.ts";
import { segmentsOf } from "./submit/submit-plan.ts";
import { ESME_RX_T_APPN } from "./wire/status-words.ts";

/** Leaves time for the unbind within the 15 s that a check may take. */
const CHECK_TIMEOUT_MS = 12_000;

export const smppConnectorKind: ConnectorKind = {
  kind: "smpp",
  channel: "sms",
  config: smppConfigSchema,
  secrets: { password: "Password in the bind" },
  problems: ({ config }) => ({
    ...hostProblem(config.host),
    ...localAddressProblem(config),
    ...authorityProblem("tls_ca", config.tls_ca),
    ...serverNameProblem(config.tls_server_name),
    ...statusClassProblem(config.status_classes),
    ...tlvProblems(config),
    ...versionProblems(config),
  }),
  open: openSmppChannel,
  slots,
  segments,
  check,
  destination: {
    fields: ["host", "port", "tls", "tls_verify", "tls_ca", "tls_server_name"],
    secrets: ["password"],
  },
};

/** In TLS a server name cannot be an address (RFC 6066 §3); with one, the runtime would open no connection. */
function serverNameProblem(name: unknown): Record<string, string> {
  return typeof name === "string" && isIP(name.replace(/%.*/, "")) !== 0
    ? { tls_server_name: "must be a name; of a certificate for an address, set `host` to that address alone" }
    : {};
}

/** What is wrong with the names in `status_classes`: one that is no command_status would silently do nothing. */
function statusClassProblem(classes: unknown): Record<string, string> {
  const names = typeof classes === "object" && classes !== null ? Object.keys(classes) : [];
  return names.every((name) => /^0x[0-9a-fA-F]{1,8}$/.test(name))
    ? {}
    : { status_classes: "must name each command_status in hexadecimal, for example 0x00000401" };
}

/** How many slots a connector has. A slot is a bind, or a pair of binds. */
function slots(connector: Connector): number {
  const config = readSmppConfig(connector);
  return config instanceof Error ? 1 : config.binds;
}

function segments(connector: Connector, text: string): SmsSegments {
  const config = readSmppConfig(connector);
  return config instanceof Error ? segmentSms(text) : segmentsOf(text, config);
}

/** Binds and unbinds. `detail` says in words how that went. */
async function check(connector: Connector, clock: Clock): Promise<{ ok: boolean; detail: string }> {
  const config = readSmppConfig(connector);
  if (config instanceof Error) return { ok: false, detail: config.message };
  try {
    const role = config.bind === "transceiver" ? "transceiver" : "transmitter";
    const { ok, detail } = await bindOnce(
      { ...sessionOptions(config, connector.secrets), role, window: () => config.window },
      clock,
    );
    if (ok) return { ok, detail };
    const bound = Object.entries(NO_FURTHER_BIND).find(([name]) => detail.includes(`(${name})`))?.[1];
    if (bound !== undefined) return { ok, detail: `${detail}; ${bound}` };
    const advice = (await isTlsPort(config, detail, clock))
      ? "; it speaks TLS on this port: `tls` is to be true"
      : "";
    return { ok, detail: detail + advice };
  } catch (error) {
    return { ok: false, detail: errorText(error) };
  }
}

/** What these refusals of a bind may mean where the connector is bound already. */
const NO_FURTHER_BIND = {
  ESME_RALYBND: "it allows no session beside the open ones, such as the connector's own",
  ESME_RBINDFAIL:
    "the password may be wrong, or it allows no session beside the open ones, such as the connector's own",
} as const;

/** Whether the port expects TLS, and took the bind for a broken handshake. Some servers say so; otherwise a handshake is tried. */
async function isTlsPort(config: SmppConfig, detail: string, clock: Clock): Promise<boolean> {
  const { tls, host, port, local_address: localAddress } = config;
  return (
    !tls && HUNG_UP.test(detail) && (await speaksTls({ host, port, ...present({ localAddress }) }, clock))
  );
}

const HUNG_UP = /^the SMSC closed the connection$|ECONNRESET/;

function bindOnce(options: SessionOptions, clock: Clock): Promise<{ ok: boolean; detail: string }> {
  return new Promise((resolve) => {
    let isBound = false;
    const session = openSession(options, clock, {
      onBound() {
        isBound = true;
        void session.unbind("checked");
      },
      onMessage: (_message, acknowledge) => acknowledge(ESME_RX_T_APPN),
      onSlots() {},
      onEnd({ reason }) {
        cancel();
        resolve(
          isBound
            ? { ok: true, detail: `bound as ${options.systemId}, and unbound` }
            : { ok: false, detail: reason },
        );
      },
    });
    // Set only now: if `openSession` throws because of an impossible setting, there is no session to end.
    const cancel = clock.after(CHECK_TIMEOUT_MS, () => session.destroy("the SMSC did not answer in time"));
  });
}
