/** Devices that are registered and identified at once, the one held in the middle of its transaction. */
import { expect, test } from "bun:test";
import { DAY } from "../../contract/world.contract.ts";
import { CONNECTIONS, openDriver } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { race, waiting } from "../database/race.contract.ts";
import {
  APP,
  answer,
  contactOf,
  contactsWithout,
  heldAt,
  identify,
  OTHER_APP,
  register,
  threeDevices,
} from "./push-race.contract.ts";

test("a contact that a device leaves while another moves to it stays", () =>
  race(async (world) => {
    const { store, other } = world;
    const [left, between, target] = await threeDevices(world);
    const calls = await heldAt(world, { contacts: between }, (isWaiting) => [
      identify(world, store, { deviceId: "d2", contactId: left }),
      isWaiting().then(() => identify(world, other, { deviceId: "d1", contactId: target })),
    ]);
    expect(calls).toEqual([left, target]);
    expect(await contactOf(world, "d2")).toBe(left);
  }));

test("a device that is registered again while it is identified is answered the contact it has then", () =>
  race(async (world) => {
    const { store, other } = world;
    const [, , target] = await threeDevices(world);
    const calls = await heldAt(world, { registrations: "d1" }, (isWaiting) => [
      identify(world, store, { deviceId: "d1", contactId: target }),
      isWaiting().then(() => register(world, other, { deviceId: "d1", token: "new" })),
    ]);
    expect(calls).toEqual([target, target]);
  }));

test("a device that is registered in another app while it is identified leaves no contact without a registration", () =>
  race(async (world) => {
    const { store, other } = world;
    const [, , target] = await threeDevices(world);
    const calls = await heldAt(world, { registrations: "d1" }, (isWaiting) => [
      identify(world, store, { deviceId: "d1", contactId: target }),
      isWaiting().then(() => register(world, other, { appId: OTHER_APP, deviceId: "d1", token: "new" })),
    ]);
    expect(calls[0]).toBe(target);
    expect(await contactsWithout(world)).toEqual([]);
  }));

test("a device whose expired key somebody else has locked for longer than a request waits for a key is registered", () =>
  race(async (world) => {
    const { store, clock, url } = world;
    await threeDevices(world);
    const first = { deviceId: "d4", token: "t", key: world.key("k") };
    await register(world, store, first);
    clock.now += 2 * DAY;
    const driver = openDriver({ url });
    const calls: Promise<string>[] = [];
    await driver.hold(async (stranger) => {
      await stranger.exec("BEGIN; SELECT 1 FROM idempotency_keys FOR UPDATE");
      calls.push(register(world, store, { ...first, key: world.key("k") }));
      await waiting(driver, 1);
      await stranger.exec("SELECT pg_sleep(1.5); COMMIT");
    });
    await driver.close();
    expect(await calls[0]).toBe(await contactOf(world, "d4"));
  }));

test("devices of one user that are identified again, all at once, are all answered", () =>
  race(async (world) => {
    const { store, other } = world;
    const [user] = await threeDevices(world);
    await identify(world, store, { deviceId: "d2", contactId: user });
    const again = Array.from({ length: 8 }, (_, turn) =>
      identify(world, turn % 2 ? other : store, { deviceId: turn % 3 ? "d1" : "d2", contactId: user }),
    );
    expect(await Promise.all(again)).toEqual(again.map(() => user));
  }));

test("a device that is moved to and fro many times at once between other devices' contacts is moved each time", () =>
  race(async (world) => {
    const { store, other } = world;
    const [, second, third] = await threeDevices(world);
    const calls = Array.from({ length: 8 }, (_, index) => {
      const contactId = index % 2 === 0 ? second : third;
      return identify(world, index % 4 < 2 ? store : other, { deviceId: "d1", contactId });
    });
    expect(new Set(await Promise.all(calls))).toEqual(new Set([second, third]));
  }));

test("devices that change places are both answered, and one of their contacts is left", () =>
  race(async (world) => {
    const { store, other } = world;
    const [one, two] = await threeDevices(world);
    const swaps = Array.from({ length: 8 }, (_, turn) =>
      (turn % 2 ? other : store).push.identify({
        ...(turn % 2 ? { deviceId: "d1", contactId: two } : { deviceId: "d2", contactId: one }),
        accountId: world.account.id,
        now: world.clock.now,
        answer,
      }),
    );
    const kinds = new Set((await Promise.all(swaps)).map(({ kind }) => kind));
    expect(kinds.has("done")).toBeTrue();
    const left = new Set([await contactOf(world, "d1"), await contactOf(world, "d2")]);
    expect(left.size).toBe(1);
  }));

test("a contact that is deleted while a device moves to it goes, and takes the device along", () =>
  race(async (world) => {
    const { store, other } = world;
    const [, contact] = await threeDevices(world);
    const calls = await heldAt(world, { contacts: contact }, (isWaiting) => [
      identify(world, store, { deviceId: "d1", contactId: contact }),
      isWaiting().then(() => other.records.remove("contacts", contact).then(String)),
    ]);
    expect(calls).toEqual([contact, "true"]);
    expect([await contactOf(world, "d1"), await contactOf(world, "d2")]).toEqual([undefined, undefined]);
    expect(await contactsWithout(world)).toEqual([]);
  }));

test("a crowd of devices that wait for one another takes no connection from anybody else", () =>
  race(async (world) => {
    const { url, store, account } = world;
    const app = { id: APP, accountId: account.id, name: "app", platforms: ["fcm" as const], createdAt: 0 };
    await store.records.create("pushApps", app);
    const driver = openDriver({ url });
    try {
      const crowd = await driver.hold(async (stranger) => {
        await stranger.exec("BEGIN");
        await stranger.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCKS.registering, APP]);
        const names = Array.from({ length: 2 * CONNECTIONS }, (_, index) => `d${index}`);
        const calls = names.map((deviceId) => register(world, store, { deviceId, token: deviceId }));
        await waiting(driver, 1);
        // The statement of each has a limit of its own, after which all would have failed.
        expect(await store.records.find("accounts", { id: account.id })).toBeDefined();
        await stranger.exec("COMMIT");
        return Promise.all(calls);
      });
      expect(new Set(crowd).size).toBe(2 * CONNECTIONS);
    } finally {
      await driver.close();
    }
  }));
