import type { Engine } from "../delivery/engine.ts";
import type { Store } from "../store/store.ts";

/** The same store, which calls `tell` with the receipts it has stored, whatever part recorded them. */
export function watchReceipts(store: Store, tell: Engine["noteReceipts"]): Store {
  const { queue } = store;
  return {
    ...store,
    queue: {
      ...queue,
      async recordReceipts(receipts) {
        const results = await queue.recordReceipts(receipts);
        tell(receipts, results);
        return results;
      },
    },
  };
}
