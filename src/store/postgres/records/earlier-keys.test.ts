import { expect, test } from "bun:test";
import { sealFact } from "../../meta.ts";
import { openDriver } from "../database/driver.ts";
import { writeMeta } from "../database/meta.ts";
import { openFresh, VAULT } from "../postgres-world.contract.ts";

test("what was kept of earlier master keys is read, newest first; none where the key was never rotated", async () => {
  const { store, url } = await openFresh();
  expect(await store.earlierKeys()).toEqual([]);
  const driver = openDriver({ url, connections: 1 });
  await writeMeta(
    driver,
    "earlier_keys",
    sealFact(VAULT, "earlier_keys", JSON.stringify(["second", "first"])),
  );
  expect(await store.earlierKeys()).toEqual(["second", "first"]);
  await driver.close();
  await store.close();
}, 120_000);
