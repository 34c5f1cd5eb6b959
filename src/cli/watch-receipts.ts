import type { Engine } from "../delivery/engine.ts";
import type { Store } from "../store/store.ts";

/** The store, with every receipt that it has stored told to `tell`, through whichever door it came. */
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
