import { expect, test } from "bun:test";
import { createWorld } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import { openFresh } from "../postgres-world.contract.ts";

/** Makes the database fold all letters of external ids, as one does that was created with the locale of a language. */
async function foldAllLetters(url: string): Promise<void> {
  const driver = openDriver({ url, connections: 1 });
  await driver.query(`ALTER TABLE contacts ALTER COLUMN external_id TYPE text COLLATE "und-x-icu"`);
  await driver.close();
}

test("a contact that is called by an erased address is called by nothing, whichever letters the database folds", async () => {
  const { url, store } = await openFresh();
  try {
    await foldAllLetters(url);
    const { account, id, clock } = await createWorld(store);
    const contact = { id: id(), accountId: account.id, createdAt: clock.now };
    await store.records.create("contacts", { ...contact, externalId: "\u00c9RIC@x.test" });
    const request = { id: id(), recipient: "\u00c9ric@x.test", salt: "s", digest: "d", createdAt: clock.now };
    await store.erasures.create(request);
    while ((await store.erasures.advance(clock.now, 100)) > 0);
    expect(await store.records.list("contacts", { accountId: account.id }, { limit: 10 })).toEqual([contact]);
  } finally {
    await store.close();
  }
});
