import { expect, test } from "bun:test";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { createServerWatch, OtherServer } from "../database/server-watch.ts";
import { openClosable } from "../database/transactions.ts";
import { VAULT, withDriver } from "../postgres-world.contract.ts";
import { createErasedNames } from "./erased-names.ts";

test("a pepper whose transaction was rolled back is not remembered", () =>
  withDriver(async (driver) => {
    const { database } = openClosable(driver, createSystemClock());
    await driver.query("INSERT INTO meta (name, value) VALUES ('master_key_check', $1)", [VAULT.checkValue]);
    const names = createErasedNames(database, VAULT);
    const failed = database.transaction(async (session) => {
      await names.needForm(session);
      await names.needForm(session);
      throw new Error("rolled back");
    });
    await expect(failed).rejects.toThrow("rolled back");
    expect(names.known()).toBeUndefined();
    expect(await names.form(driver)).toBeUndefined();
  }));

test("no pepper is written under a master key that was changed", () =>
  withDriver(async (driver) => {
    const { database } = openClosable(driver, createSystemClock());
    await driver.query("INSERT INTO meta (name, value) VALUES ('master_key_check', 'of another')");
    const made = database.transaction((session) => createErasedNames(database, VAULT).needForm(session));
    await expect(made).rejects.toThrow(StoreUnavailable);
    expect(await driver.query("SELECT name FROM meta")).toEqual([{ name: "master_key_check" }]);
  }));

test("a pepper is stored anew on a server that lacks it, since what is erased under one in memory would be found by nobody", () =>
  withDriver(async (driver) => {
    const servers = createServerWatch();
    const { database } = openClosable(driver, createSystemClock(), servers);
    await driver.query("INSERT INTO meta (name, value) VALUES ('master_key_check', $1)", [VAULT.checkValue]);
    const names = createErasedNames(database, VAULT);
    const erase = () => database.transaction(async (session) => (await names.needForm(session))("+1"));
    await erase();
    await names.form(driver);
    // A standby is promoted that has not received it.
    await driver.query("DELETE FROM meta WHERE name = 'erasure_pepper'");
    expect(() => servers.begin()("another one")).toThrow(OtherServer);
    const erased = await erase();
    const started = await createErasedNames(database, VAULT).form(driver);
    expect(started?.("+1")).toEqual(erased);
  }));
