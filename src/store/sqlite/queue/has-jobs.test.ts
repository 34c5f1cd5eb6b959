import { expect, test } from "bun:test";
import { createWorld, HOUR } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

/** As many as are looked at in one piece. */
const OTHERS = 10_000;

test("a route is in use by a job that waits, and that ten thousand others stand before, and by none of theirs", async () => {
  const { store } = await openInMemory();
  const { sms, id, clock, claim, settle } = await createWorld(store);
  const [busy, idle] = [id(), id()];
  for (const routeId of [busy, idle]) {
    const route = { id: routeId, channel: "sms", match: "", connectorIds: [], createdAt: 0 } as const;
    await store.records.create("routes", route);
  }
  // The queue of the idle one is known, and has no job any more.
  await sms({ queue: idle });
  await settle((await claim(1, idle))[0]!);
  const to = Array.from({ length: 1_000 }, (_, index) => `+91${index}`);
  for (let count = 0; count < OTHERS; count += to.length) await sms({ queue: "other", to });
  await sms({ queue: busy, dueAt: clock.now + HOUR });
  expect(await store.records.remove("routes", busy)).toBe("in_use");
  expect(await store.records.remove("routes", idle)).toBe(true);
  await store.queue.stage(clock.now + HOUR, 1);
  await settle((await claim(1, busy))[0]!);
  expect(await store.records.remove("routes", busy)).toBe(true);
  await store.close();
});
