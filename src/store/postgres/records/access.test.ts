import { expect, test } from "bun:test";
import { MOVING } from "../../meta.ts";
import { openDriver } from "../database/driver.ts";
import { openFresh } from "../postgres-world.contract.ts";

test("a start that a restore has overtaken makes no account in its database", async () => {
  const { store, url } = await openFresh();
  const driver = openDriver({ url, connections: 1 });
  await driver.query("INSERT INTO meta (name, value) VALUES ($1, 'a backup')", [MOVING]);
  const at = { accountId: "one", createdAt: 1 };
  const start = store.access.bootstrap({
    account: { id: "one", name: "One", mode: "sandbox", createdAt: 1 },
    apiKey: { ...at, id: "key", name: "key", prefix: "pr_live_", digest: "digest" },
    pushApp: { ...at, id: "app", name: "app", platforms: [] },
    webhookSecret: "whsec_1",
    adminTokenDigest: "admin",
    consolePasswordDigest: "password",
  });
  await expect(start).rejects.toThrow("half of it is missing");
  expect(await driver.query("SELECT 1 FROM accounts")).toEqual([]);
  await driver.close();
  await store.close();
});
