import { expect, test } from "bun:test";
import { createWorld, rejection } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

test("the ids of a settlement that was rolled back are known to nobody until it is repeated", async () => {
  let isFull = false;
  const beforeCommit = () => {
    if (isFull) throw new Error("database or disk is full");
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const { sms, claimOne, settle, receive, status } = await createWorld(store);
  const [id = ""] = await sms();
  const job = await claimOne();
  isFull = true;
  expect(await rejection(settle(job))).toBeInstanceOf(Error);
  isFull = false;
  expect(await receive(`p-${id}`)).toEqual([{ kind: "parked" }]);
  expect(await settle(job)).toBe(true);
  expect(await status(id)).toBe("delivered");
  await store.close();
});
