import type { Engine } from "../delivery/engine.ts";
import type { Store } from "../store/store.ts";

/** The same store, but it calls `tell` with the receipts that it has stored, whichever part recorded them. */
export function watchReceipts(store: Store, tell: Engine["noteReceipts"]): Store {
  const { receipts } = store;
  return {
    ...store,
    receipts: {
      ...receipts,
      async record(some) {
        const results = await receipts.record(some);
        tell(some, results);
        return results;
      },
    },
  };
}
