import { expect, test } from "bun:test";
import { inWorld, type OpenStore, rejection } from "../world.contract.ts";
import { connector, route } from "./records.contract.ts";

export function settingsContract(open: OpenStore): void {
  test(
    "settings of the instance and of accounts are apart, and a value that is unset is gone",
    inWorld(open, async ({ store, account }) => {
      const { records } = store;
      await records.setSettings(undefined, { a: "1" });
      await records.setSettings(account.id, { a: "2" });
      await records.setSettings(account.id, { a: "3" });
      await records.setSettings(account.id, { b: "" });
      expect(await records.settings(undefined)).toEqual({ a: "1" });
      expect(await records.settings(account.id)).toEqual({ a: "3", b: "" });
      await records.setSettings(account.id, { a: undefined });
      await records.setSettings(undefined, { a: undefined });
      expect(await records.settings(account.id)).toEqual({ b: "" });
      expect(await records.settings(undefined)).toEqual({});
    }),
  );

  test(
    "several settings are set and unset at once, and none where one cannot be stored",
    inWorld(open, async ({ store, account }) => {
      const { records } = store;
      await records.setSettings(account.id, { a: "1", b: "2" });
      await records.setSettings(account.id, { a: undefined, b: "3", c: "4" });
      expect(await records.settings(account.id)).toEqual({ b: "3", c: "4" });
      const noText = null as unknown as string;
      await rejection(records.setSettings(account.id, { b: "5", c: noText }));
      expect(await records.settings(account.id)).toEqual({ b: "3", c: "4" });
    }),
  );

  test(
    "the version rises with every change to connectors, routes and settings",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const way = connector(world);
      const via = route(world, [way.id]);
      const changes = [
        () => records.create("connectors", way),
        () => records.update("connectors", way, { isEnabled: false }),
        () => records.create("routes", via),
        () => records.setSettings(undefined, { a: "1" }),
        () => records.remove("routes", via.id),
      ];
      for (const change of changes) {
        const before = await records.version();
        await change();
        expect(await records.version()).toBeGreaterThan(before);
      }
    }),
  );

  test(
    "the version stays where a change was refused or found nothing: nobody reads anew for it",
    inWorld(open, async (world) => {
      const { records } = world.store;
      const way = connector(world);
      await records.create("connectors", way);
      await records.create("routes", route(world, [way.id]));
      const nobody = world.id();
      const gone = { ...way, id: nobody };
      const before = await records.version();
      expect(await records.remove("connectors", way.id)).toBe("in_use");
      expect(await records.remove("connectors", nobody)).toBe(false);
      expect(await records.update("connectors", gone, { isEnabled: false })).toBeUndefined();
      expect(await records.create("routes", route(world, [nobody]))).toHaveProperty("conflict");
      expect(await records.version()).toBe(before);
    }),
  );

  test(
    "an account is created with its webhook secret, or not at all",
    inWorld(open, async ({ store: { records }, id, clock }) => {
      const account = { id: id(), name: "acme", mode: "live", createdAt: clock.now } as const;
      // It cannot be sealed, once the account has been written.
      const unfit = 1 as unknown as string;
      expect(await rejection(records.createAccount(account, unfit))).toBeInstanceOf(Error);
      expect(await records.find("accounts", { id: account.id })).toBeUndefined();
      expect(await records.createAccount(account, "whsec_1")).toBe("created");
      expect(await records.webhookSecrets(account.id)).toEqual([{ secret: "whsec_1", createdAt: clock.now }]);
      expect(await records.createAccount(account, "whsec_2")).toHaveProperty("conflict");
      expect(await records.webhookSecrets(account.id)).toHaveLength(1);
    }),
  );

  test(
    "two webhook secrets are valid at a time, the newest first",
    inWorld(open, async ({ store, account, addAccount, clock }) => {
      const { records } = store;
      const other = await addAccount();
      await records.addWebhookSecret(other.id, { secret: "other", createdAt: clock.now });
      expect(await records.webhookSecrets(account.id)).toEqual([]);
      for (const secret of ["one", "two", "three"]) {
        await records.addWebhookSecret(account.id, { secret, createdAt: clock.now++ });
      }
      expect(await records.webhookSecrets(account.id)).toEqual([
        { secret: "three", createdAt: clock.now - 1 },
        { secret: "two", createdAt: clock.now - 2 },
      ]);
      expect(await records.webhookSecrets(other.id)).toHaveLength(1);
    }),
  );

  test(
    "of two webhook secrets added at once upon the same one, only one is added",
    inWorld(open, async ({ store, account, clock }) => {
      const { records } = store;
      const first = clock.now;
      await records.addWebhookSecret(account.id, { secret: "first", createdAt: first });
      const add = (secret: string, createdAt: number) =>
        records.addWebhookSecret(account.id, { secret, createdAt }, first);
      const added = await Promise.all([add("one", first + 1), add("another", first + 2)]);
      expect(added.toSorted()).toEqual([false, true]);
      expect((await records.webhookSecrets(account.id)).map(({ secret }) => secret)).toEqual([
        added[0] ? "one" : "another",
        "first",
      ]);
    }),
  );

  test(
    "an account that has been deleted takes no settings and no webhook secret",
    inWorld(open, async ({ store: { records }, addAccount, clock }) => {
      const gone = await addAccount();
      await records.remove("accounts", gone.id);
      const before = await records.version();
      expect(await records.setSettings(gone.id, { a: "1" })).toBe(false);
      const secret = { secret: "late", createdAt: clock.now };
      expect(await records.addWebhookSecret(gone.id, secret)).toBeUndefined();
      expect(await records.webhookSecrets(gone.id)).toEqual([]);
      expect(await records.version()).toBe(before);
    }),
  );
}
