import { expect, test } from "bun:test";
import { CONNECTIONS } from "../database/driver.ts";
import { race } from "../database/race.contract.ts";

test("a process whose connections are all busy still shows that it lives", () =>
  race(async ({ other, whileHeld }) => {
    const writes: Promise<void>[] = [];
    await whileHeld("settings", async (isWaiting) => {
      for (let n = 0; n <= CONNECTIONS; n++)
        writes.push(other.records.setSettings(undefined, { [`s${n}`]: "1" }));
      await isWaiting(CONNECTIONS);
      const turn = { process: "busy", isSharing: true, keep: [], take: [], dead: [], now: 1 };
      expect((await other.leases.turn(turn)).processes).toMatchObject([{ process: "busy" }]);
    });
    await Promise.all(writes);
  }));
