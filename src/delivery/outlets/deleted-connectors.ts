import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";

/** Tells whether a connector has been deleted. Unlike one that is only down or disabled, it never finishes what it began. */
export type IsDeleted = (connectorId: string) => Promise<boolean>;

/** @param connectors those that were read last */
export function createIsDeleted(
  records: Pick<Records, "find">,
  connectors: () => readonly Connector[],
): IsDeleted {
  return async (connectorId) => {
    if (connectors().some(({ id }) => id === connectorId)) return false;
    // Another process may have created it a moment ago.
    return (await records.find("connectors", { id: connectorId })) === undefined;
  };
}
