import type { Store } from "../store.ts";
import type { PostgresStore } from "./open-postgres.ts";

const SLICES = [
  ...["intake", "messages", "queue", "outbox", "push", "records", "sandbox", "receipts", "suppressions"],
  ...["feed", "erasures", "inbound", "upkeep"],
] as const;

/** While slices are being built: what is not there yet says so when it is called. */
export function withMissing(partial: PostgresStore): Store {
  const have = partial as unknown as Readonly<Record<string, object | undefined>>;
  const slices = SLICES.map((slice) => [slice, withMissingMethods(slice, have[slice] ?? {})]);
  const earlierKeys = async () => [];
  return { earlierKeys, ...have, ...Object.fromEntries(slices) } as unknown as Store;
}

function withMissingMethods(slice: string, methods: object): object {
  return new Proxy(methods, {
    get(known: Readonly<Record<string | symbol, unknown>>, name) {
      if (name in known || typeof name === "symbol") return known[name];
      if (name.startsWith("on")) return () => () => {};
      return async () => {
        throw new Error(`${slice}.${name} is not there on PostgreSQL`);
      };
    },
  });
}
