import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";

/** Which connectors have been deleted. One that is only down or disabled may still finish what it has begun; these never will. */
export interface DeletedConnectors {
  /** Call it with all connectors whenever they have changed. */
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
