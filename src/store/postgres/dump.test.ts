import { expect, test } from "bun:test";
import { createWorld } from "../contract/world.contract.ts";
import { dump } from "./dump.ts";
import { openFresh } from "./postgres-world.contract.ts";

test("a dump is of one moment, whatever is accepted while its tables are read", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  await world.sms();
  const read: string[] = [];
  const { rows } = await dump(url, {
    onKey: () => undefined,
    async table(name) {
      read.push(name);
      await world.sms();
    },
    rows: async () => undefined,
    tableDone: async () => undefined,
  });
  expect(read.length).toBeGreaterThan(10);
  expect(rows).toMatchObject({ messages: 1, contents: 1, jobs: 1 });
  expect(await world.claim(100)).toHaveLength(1 + read.length);
  await store.close();
});
