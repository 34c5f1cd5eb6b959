import type { Clock } from "../../core/clock.ts";
import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";

/** How long what a disabled connector has begun waits for it: to make one bind again, operators turn it off and on. */
const DISABLED_MS = 300_000;

/** Connectors that will not finish what they have begun, since an operator has taken them away. One that is only down will. */
export interface Withdrawn {
  /** To be called whenever the connectors have changed, with all there are. */
  reconcile(connectors: readonly Connector[]): void;
  /** `undefined`: it is there, or may soon be again. */
  why(connectorId: string): Promise<"deleted" | "disabled" | undefined>;
}

export interface WithdrawnDeps {
  readonly records: Pick<Records, "find">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

export function createWithdrawn({ records, clock }: WithdrawnDeps): Withdrawn {
  /** Since when each connector is disabled, as far as this process knows; `undefined`: it is enabled. */
  let disabledAt = new Map<string, number | undefined>();
  return {
    reconcile(connectors) {
      const before = disabledAt;
      const sinceMs = ({ id }: Connector) => before.get(id) ?? clock.monotonicMs();
      disabledAt = new Map(connectors.map((each) => [each.id, each.isEnabled ? undefined : sinceMs(each)]));
    },
    async why(connectorId) {
      if (!disabledAt.has(connectorId)) {
        // One that is new may not be known here yet.
        const found = await records.find("connectors", { id: connectorId });
        return found === undefined ? "deleted" : undefined;
      }
      const atMs = disabledAt.get(connectorId) ?? Number.POSITIVE_INFINITY;
      return clock.monotonicMs() - atMs >= DISABLED_MS ? "disabled" : undefined;
    },
  };
}
