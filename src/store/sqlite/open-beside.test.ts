import { expect, test } from "bun:test";
import { join } from "node:path";
import { folderUntilTheEnd } from "../../../test/temp-folder.ts";
import { createWorld, SMS } from "../contract/world.contract.ts";
import { createLockMemory } from "./database/write-lock.ts";
import { openBeside } from "./open-beside.ts";
import { openSqlite } from "./open-sqlite.ts";
import { VAULT } from "./sqlite-world.contract.ts";

test("a connection that still remembers a deleted account neither sends nor reads as the account made after it", async () => {
  const path = join(folderUntilTheEnd("postrider-beside-"), "p.db");
  const memory = createLockMemory();
  const sharedAs = (index: number) => ({ memory, share: { index, of: 2 } });
  const store = await openSqlite({ path, vault: VAULT, shared: sharedAs(0) });
  const beside = openBeside({ path, vault: VAULT, shared: sharedAs(1), now: Date.now });
  const world = await createWorld(store);
  const { account: deleted, clock } = world;
  const seenBy = async (accountId: string) => {
    const times = { createdFrom: 0, createdTo: clock.now + 1_000 };
    const page = await beside.store.messages.list({ accountId, channel: "sms", limit: 10, ...times });
    return page.messages.map(({ id }) => id);
  };
  expect(await seenBy(deleted.id)).toEqual([]);

  expect(await store.records.remove("accounts", deleted.id)).toBe(true);
  const successor = await world.addAccount();
  const [messageId = ""] = await world.sms({ account: successor });

  expect(await seenBy(deleted.id)).toEqual([]);
  const message = { id: world.id(), recipient: "+911", status: "queued" as const, parts: [] };
  const accepted = await beside.store.intake.accept({
    accountId: deleted.id,
    flow: "single",
    content: SMS,
    messages: [{ ...message, expiresAt: clock.now + 1_000, jobs: [{ queue: "queue-a" }] }],
  });
  expect(accepted).toEqual({ kind: "no_account" });
  expect(await seenBy(successor.id)).toEqual([messageId]);
  await beside.store.close();
  await store.close();
});
