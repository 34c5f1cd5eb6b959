import type { ConnectorKind } from "../../channel.ts";
import { openMxChannel } from "./mx-channel.ts";
import { mxConfigSchema, mxProblems } from "./mx-config.ts";

/** Direct to the mail hosts of each recipient's domain, without a relay. */
export const mxConnectorKind: ConnectorKind = {
  kind: "mx",
  channel: "email",
  config: mxConfigSchema,
  secrets: [],
  problems: mxProblems,
  open: openMxChannel,
  // The hosts are those of each recipient's domain.
  check: async () => ({
    ok: true,
    detail: "its settings hold; nobody was connected to, since the hosts are those of each recipient",
  }),
};
