import { expect, test } from "bun:test";
import { openOther, withDriver } from "../postgres-world.contract.ts";
import { openDriver } from "./driver.ts";

const SHOW = "SELECT current_setting('synchronous_commit') AS mode";

test("a commit waits for the disk, whatever is set for the database; behind a pooler, which cannot be told, nothing starts", () =>
  withDriver(async (driver, url) => {
    const set = async (mode: string) => {
      const [row] = await driver.query<{ name: string }>("SELECT current_database() AS name");
      await driver.query(`ALTER DATABASE ${row?.name} SET synchronous_commit = ${mode}`);
    };
    const pooled = `${url}?prepare=false`;
    for (const mode of ["off", "local", "remote_write"]) {
      await set(mode);
      const direct = openDriver({ url, connections: 1 });
      expect(await direct.query(SHOW)).toEqual([{ mode: "on" }]);
      await direct.close();
      await expect(openOther(pooled)).rejects.toThrow(`synchronous_commit is ${mode}`);
    }
    await set("on");
    await (await openOther(pooled)).close();
  }));
