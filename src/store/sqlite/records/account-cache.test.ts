/** What is remembered of accounts is what is stored. */
import { expect, test } from "bun:test";
import { createWorld } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

test("an account whose first message was rolled back is kept by its second", async () => {
  const disk = { isFull: false };
  const beforeCommit = () => {
    if (disk.isFull) throw new Error("the disk is full");
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const { account, sms, status } = await createWorld(store);
  disk.isFull = true;
  expect(await sms().catch(String)).toContain("did not commit");
  disk.isFull = false;
  const [id = ""] = await sms();
  expect(await store.records.remove("accounts", account.id)).toBe("in_use");
  expect(await status(id)).toBe("queued");
  await store.close();
});
