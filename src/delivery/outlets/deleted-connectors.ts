import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";

/** Tells connectors that have been deleted, and will not finish what they have begun, from those that are down or disabled. */
export interface DeletedConnectors {
  /** To be called whenever the connectors have changed, with all there are. */
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
      // One that is new may not be known here yet.
      return (await records.find("connectors", { id: connectorId })) === undefined;
    },
  };
}
