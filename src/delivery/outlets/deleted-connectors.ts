import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";

/** Tells which connectors have been deleted. Unlike those that are only down or disabled, they never finish what they began. */
export interface DeletedConnectors {
  /** To be called with all connectors whenever they have changed. */
  reconcile(connectors: readonly Connector[]): void;
  includes(connectorId: string): Promise<boolean>;
}

export function createDeletedConnectors(records: Pick<Records, "find">): DeletedConnectors {
  let known: ReadonlySet<string> = new Set();
  return {
    reconcile(connectors) {
      known = new Set(connectors.map(({ id }) => id));
    },
    async includes(connectorId) {
      if (known.has(connectorId)) return false;
      // Another process may have created it a moment ago.
      return (await records.find("connectors", { id: connectorId })) === undefined;
    },
  };
}
