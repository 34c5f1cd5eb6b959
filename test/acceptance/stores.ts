/** Every store that must pass the tests of the interface. */
import { randomBytes } from "node:crypto";
import { createSystemClock } from "../../src/cli/system-clock.ts";
import { present } from "../../src/core/present.ts";
import { openOn } from "../../src/store/postgres/open-postgres.ts";
import { openInMemory } from "../../src/store/sqlite/sqlite-world.contract.ts";
import type { Store } from "../../src/store/store.ts";
import { createVault } from "../../src/store/vault.ts";
import { connectedDatabase } from "../postgres-database.ts";

/** `now`: the time of day where the store asks for it; absent: the system's. */
export type OpenStore = (now?: () => number) => Promise<Store>;

/** Each function opens an empty store. */
export const STORES: Readonly<Record<string, OpenStore>> = {
  sqlite: async (now) => (await openInMemory({ vault: createTestVault(), now })).store,
  postgres: openOnPostgres,
};

function createTestVault() {
  return createVault({ masterKey: "m".repeat(40), randomBytes });
}

async function openOnPostgres(now?: () => number): Promise<Store> {
  const { url, drivers, drop } = await connectedDatabase();
  const vault = createTestVault();
  const clock = { ...createSystemClock(), ...present({ now }) };
  const store: Store = await openOn(drivers, { url, vault, clock });
  return { ...store, ...withNumbers(store, drop) };
}

const NUMBER_MS = 25;

/** Numbers events before each read: no upkeep does it here. `drop`: what follows the store's end. */
function withNumbers(store: Store, drop: () => Promise<void>): Pick<Store, "feed" | "close"> {
  let last: Promise<unknown> = Promise.resolve();
  /** One at a time: a second call would return before the first has numbered them. */
  const number = () => {
    const done = last.then(() => store.feed.numberEvents(500));
    last = done.catch(() => undefined);
    return done;
  };
  const numbered = async <T>(read: () => Promise<T>) => {
    while ((await number()) > 0);
    return read();
  };
  const numbering = setInterval(() => void number().catch(() => undefined), NUMBER_MS);
  return {
    feed: {
      ...store.feed,
      read: (query) => numbered(() => store.feed.read(query)),
      lastNumber: () => numbered(store.feed.lastNumber),
      lastNumberOf: (accountId) => numbered(() => store.feed.lastNumberOf(accountId)),
    },
    async close() {
      clearInterval(numbering);
      await last;
      await store.close();
      await drop();
    },
  };
}
