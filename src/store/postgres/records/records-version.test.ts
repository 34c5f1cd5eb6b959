import { expect, test } from "bun:test";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { createServerWatch, OtherServer } from "../database/server-watch.ts";
import { openClosable } from "../database/transactions.ts";
import { createErasedNames } from "../erasures/erased-names.ts";
import { VAULT, withDriver } from "../postgres-world.contract.ts";
import { createRecords } from "./records.ts";

test("what was changed on a server that lacks the last changes is noticed, though it is as many changes as were lost", () =>
  withDriver(async (driver) => {
    const servers = createServerWatch();
    const clock = createSystemClock();
    const { database } = openClosable(driver, clock, servers);
    const erasedNames = createErasedNames(database, VAULT);
    const records = createRecords(database, { vault: VAULT, erasedNames, clock });
    const change = () => records.setSettings(undefined, { alarm_webhook_url: "https://ops.example/" });
    await change();
    const seen = await records.version();
    // A standby is promoted that has not received the change.
    await driver.query("DELETE FROM meta WHERE name = 'records_version'");
    expect(() => servers.begin()("another one")).toThrow(OtherServer);
    await change();
    expect(await records.version()).not.toBe(seen);
  }));
