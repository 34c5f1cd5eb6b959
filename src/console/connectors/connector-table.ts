import { badge, link, table } from "../dom/pieces.ts";
import { type Connector, reasonOf, stateOf } from "./connector-state.ts";

export function connectorTable(connectors: readonly Connector[]): HTMLElement {
  return table<Connector>(
    "Connectors",
    [
      { head: "Name", kind: "text", of: ({ id, name }) => link(["connectors", id], name) },
      { head: "Kind", of: ({ kind }) => kind },
      { head: "Channel", of: ({ channel }) => channel },
      { head: "State", of: (connector) => badge(stateOf(connector)) },
      { head: "Reason", kind: "wide", of: reasonOf },
    ],
    connectors,
  );
}
