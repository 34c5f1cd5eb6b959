import { expect, test } from "bun:test";
import { CALLBACK, sendAndReceive, states, take } from "../../contract/webhooks/outbox.contract.ts";
import { createWorld } from "../../contract/world.contract.ts";
import { openWithDriver } from "../sqlite-world.contract.ts";

test("an event that has lost its message is dropped when its turn comes, and no other", async () => {
  const { store, driver, inside } = await openWithDriver(":memory:");
  const world = { ...(await createWorld(store)), inside };
  const [lost, kept] = [await sendAndReceive(world), await sendAndReceive(world, CALLBACK)];
  driver.prepare("DELETE FROM messages WHERE id = ?").run(lost);
  const messages = async () => (await take(world)).map(({ messageId }) => messageId);
  expect(await messages()).toEqual([kept]);
  // The next one had waited for it.
  expect(await states(world, lost)).toEqual(["2 ready"]);
  expect(await messages()).toEqual([]);
  expect([await states(world, lost), await states(world, kept)]).toEqual([[], ["1 leased", "2 held"]]);
  await store.close();
});
