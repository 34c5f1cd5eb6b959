import type { ConnectorKind } from "../../channel.ts";
import { checkMx } from "./check-mx.ts";
import { openMxChannel } from "./mx-channel.ts";
import { mxConfigSchema, mxProblems } from "./mx-config.ts";

/** Direct to the mail hosts of each recipient's domain, without a relay. */
export const mxConnectorKind: ConnectorKind = {
  kind: "mx",
  channel: "email",
  config: mxConfigSchema,
  secrets: {},
  problems: mxProblems,
  open: openMxChannel,
  check: checkMx,
};
