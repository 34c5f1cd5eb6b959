import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { folderUntilTheEnd } from "../../../test/temp-folder.ts";
import type { FirstStart } from "../store.ts";
import { type OpenStore, rejection } from "./world.contract.ts";

export function accessContract(open: OpenStore): void {
  test("the first start creates account, key, app, secret, admin token and console password together", async () => {
    const { store } = await open();
    const folder = folderUntilTheEnd("postrider-store-");
    try {
      const first = firstStart(folder);
      expect(await store.access.adminTokenDigest()).toBeUndefined();
      expect(await store.access.consoleSeal()).toEqual({});
      const failing = { ...first, announce: { ...first.announce, path: join(folder, "none", "file") } };
      expect(String(await rejection(store.access.bootstrap(failing)))).toContain("ENOENT");
      expect(await store.records.find("accounts", {})).toBeUndefined();
      expect(await store.access.bootstrap(first)).toBe(true);
      expect((await store.records.findKeyOwner("digest"))?.account).toEqual(first.account);
      expect(await store.records.find("pushApps", { id: "app" })).toEqual(first.pushApp);
      expect(await store.records.webhookSecrets("acc")).toMatchObject([{ secret: "whsec_1" }]);
      expect(await store.access.adminTokenDigest()).toBe("admin");
      expect(await store.access.consoleSeal()).toEqual({ passwordDigest: "password" });
      await store.access.setConsoleSeal({ passwordDigest: "another" });
      expect(await store.access.consoleSeal()).toEqual({ passwordDigest: "another" });
      for (const round of ["one", "two"]) {
        await store.access.setConsoleSeal({ round });
        expect(await store.access.consoleSeal()).toEqual({ passwordDigest: "another", round });
      }
      expect(readFileSync(first.announce.path, "utf8")).toBe("made");
      expect(statSync(first.announce.path).mode & 0o777).toBe(0o600);
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });

  test("there is one first start, and none once there is an account", async () => {
    const { store } = await open();
    const folder = folderUntilTheEnd("postrider-store-");
    try {
      const starts = ["a", "b", "c"].map((name) => {
        const first = firstStart(folder);
        return { ...first, announce: { path: join(folder, name), text: name } };
      });
      const results = await Promise.all(starts.map((first) => store.access.bootstrap(first)));
      expect(results.toSorted()).toEqual([false, false, true]);
      expect(readdirSync(folder)).toEqual([["a", "b", "c"][results.indexOf(true)] ?? ""]);
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });
}

function firstStart(folder: string): Required<FirstStart> {
  return {
    account: { id: "acc", name: "sandbox", mode: "sandbox", createdAt: 1 },
    apiKey: { id: "key", accountId: "acc", prefix: "pr_live_abcd", digest: "digest", createdAt: 1 },
    pushApp: { id: "app", accountId: "acc", name: "app", platforms: ["apns", "fcm", "web"], createdAt: 1 },
    webhookSecret: "whsec_1",
    adminTokenDigest: "admin",
    consolePasswordDigest: "password",
    announce: { path: join(folder, "made.json"), text: "made" },
  };
}
