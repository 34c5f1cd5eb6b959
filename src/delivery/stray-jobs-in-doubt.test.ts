import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { Route } from "../core/records/accounts.ts";
import { createWorld, QUEUE } from "../store/contract/world.contract.ts";
import { openInMemory } from "../store/sqlite/sqlite-world.contract.ts";
import { StoreUnavailable } from "../store/store.ts";
import { createStrayJobs } from "./stray-jobs.ts";

const ROUTE: Route = { id: "all", match: "", channel: "sms", connectorIds: ["c"], createdAt: 0 };

test("a message that was to be moved when the database went away is not in doubt: nobody has tried to send it", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  await world.sms();
  const clock = createHeldClock(world.clock.now);
  const { promise: isTried, resolve: onTry } = Promise.withResolvers<void>();
  const away = async () => {
    onTry();
    throw new StoreUnavailable("away");
  };
  const strays = createStrayJobs({
    queue: { ...store.queue, move: away },
    records: store.records,
    clock,
    log: { warn: () => {} },
    routeOf: () => ROUTE,
    outletOf: () => undefined,
    wake() {},
  });
  const stopping = new AbortController();
  strays.reconcile([{ ...ROUTE, id: QUEUE }, ROUTE]);
  strays.reconcile([ROUTE]);
  const running = strays.run(stopping.signal);
  await isTried;
  await clock.advance(61_000);
  stopping.abort();
  await clock.advance(1_000);
  await running;

  world.clock.now = clock.now();
  await store.queue.stage(clock.now(), 10);
  expect(await world.claimOne()).toMatchObject({ claim: 1, wasInterrupted: false });
  await store.close();
});
