import { expect, test } from "bun:test";
import { EARLIER_KEYS } from "../../records/earlier-keys.ts";
import { openDriver } from "../database/driver.ts";
import { writeMeta } from "../database/meta.ts";
import { openFresh, VAULT } from "../postgres-world.contract.ts";

test("what was kept of earlier master keys is read, newest first; none where the key was never rotated", async () => {
  const { store, url } = await openFresh();
  expect(await store.earlierKeys()).toEqual([]);
  const driver = openDriver({ url, connections: 1 });
  const sealed = VAULT.seal(JSON.stringify(["second", "first"]), EARLIER_KEYS.place);
  await writeMeta(driver, EARLIER_KEYS.name, sealed);
  expect(await store.earlierKeys()).toEqual(["second", "first"]);
  await driver.close();
  await store.close();
}, 120_000);
