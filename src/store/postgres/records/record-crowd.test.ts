import { expect, test } from "bun:test";
import { CONNECTIONS } from "../database/driver.ts";
import { race } from "../database/race.contract.ts";

test("a crowd of changes of records that wait for one another takes no connection from anybody else", () =>
  race(async ({ store, account, id, sms, status, whileHeld }) => {
    const template = (body: string) => ({ id: id(), accountId: account.id, name: "t", body, createdAt: 0 });
    let crowd: Promise<unknown[]> | undefined;
    await whileHeld("sms_templates", async (isWaiting) => {
      const bodies = Array.from({ length: 2 * CONNECTIONS }, (_, index) => `text ${index}`);
      crowd = Promise.all(bodies.map((body) => store.records.create("smsTemplates", template(body))));
      await isWaiting(1);
      // The statement of each has a limit of its own, after which all would have failed.
      const [message = ""] = await sms();
      expect(await status(message)).toBe("queued");
    });
    expect(new Set(await crowd)).toEqual(new Set(["created"]));
  }));
