import { expect, test } from "bun:test";
import { sendWithId } from "../../contract/receipts/receipt-match.contract.ts";
import { createWorld, sent } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

test("an id that was given out again means the newest message also where that one's answer came in the same moment", async () => {
  const { store, inside } = await openInMemory();
  const world = { ...(await createWorld(store)), inside };
  const older = await sendWithId(world, "same");
  world.clock.now += 1_000;
  const [newer = ""] = await world.sms();
  const job = await world.claimOne();
  const [, told] = await Promise.all([
    world.settle(job, { outcomes: [sent("same")] }),
    world.receive("same"),
  ]);
  expect(told).toEqual([{ kind: "applied", messageId: newer }]);
  expect([await world.status(older), await world.status(newer)]).toEqual(["sent", "delivered"]);
  await store.close();
});
