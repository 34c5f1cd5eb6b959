import { expect, test } from "bun:test";
import { openDriver } from "../database/driver.ts";
import { race } from "../database/race.contract.ts";
import { openOther } from "../postgres-world.contract.ts";
import { heldAt, register, threeDevices, tokensOf } from "./push-race.contract.ts";

test("a device that has to wait keeps no other device of its app waiting", () =>
  race(async (world) => {
    const { store, other } = world;
    await threeDevices(world);
    const answered: string[] = [];
    await heldAt(world, { registrations: "d1" }, (isWaiting) => {
      const held = register(world, store, { deviceId: "d1", token: "new" });
      const free = isWaiting().then(() => register(world, other, { deviceId: "d4", token: "of d4" }));
      for (const [name, call] of Object.entries({ held, free })) void call.then(() => answered.push(name));
      return [held, free];
    });
    expect(answered).toEqual(["free", "held"]);
  }));

test("a token that a device gives up while another takes it over is the other's", () =>
  race(async (world) => {
    const { store, other } = world;
    await threeDevices(world);
    await heldAt(world, { registrations: "d1" }, (isWaiting) => [
      register(world, store, { deviceId: "d1", token: "new" }),
      isWaiting().then(() => register(world, other, { deviceId: "d4", token: "token of d1" })),
    ]);
    expect(await tokensOf(world)).toMatchObject({ d1: "new", d4: "token of d1" });
  }));

test("devices that exchange their tokens, on two processes at once, never wait for one another in a circle", () =>
  race(async (world) => {
    const stores = [await openOther(world.url), await openOther(world.url)] as const;
    await threeDevices(world);
    const tokens = ["d1", "d2", "d3"].map((deviceId) => `token of ${deviceId}`);
    const calls = Array.from({ length: 60 }, (_, turn) => {
      const device = { deviceId: `d${1 + (turn % 3)}`, token: tokens[(turn * 7 + (turn % 4)) % 3] ?? "" };
      return register(world, turn % 2 ? stores[0] : stores[1], device);
    });
    await Promise.all(calls);
    const held = Object.values(await tokensOf(world)).filter((token) => token !== null);
    expect(new Set(held).size).toBe(held.length);
    // When their connections end, they have told what they counted.
    for (const store of stores) await store.close();
    const driver = openDriver({ url: world.url, connections: 1 });
    const sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    expect(await driver.query(sql)).toEqual([{ deadlocks: 0 }]);
    await driver.close();
  }));
