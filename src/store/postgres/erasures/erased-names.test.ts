import { expect, test } from "bun:test";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { openClosable } from "../database/transactions.ts";
import { VAULT, withDriver } from "../postgres-world.contract.ts";
import { createErasedNames } from "./erased-names.ts";

test("a pepper whose transaction was rolled back is not remembered", () =>
  withDriver(async (driver) => {
    const { database } = openClosable(driver, createSystemClock());
    await driver.query("INSERT INTO meta (name, value) VALUES ('master_key_check', $1)", [VAULT.checkValue]);
    const names = createErasedNames(VAULT);
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
    const made = database.transaction((session) => createErasedNames(VAULT).needForm(session));
    await expect(made).rejects.toThrow(StoreUnavailable);
    expect(await driver.query("SELECT name FROM meta")).toEqual([{ name: "master_key_check" }]);
  }));
