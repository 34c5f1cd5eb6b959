import { expect, test } from "bun:test";
import { createWorld, rejection } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

test("a queue whose first jobs were rolled back takes no other's number", async () => {
  let isFull = false;
  const beforeCommit = () => {
    if (isFull) throw new Error("database or disk is full");
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const { sms, claim } = await createWorld(store);
  isFull = true;
  expect(await rejection(sms({ queue: "a" }))).toBeInstanceOf(Error);
  isFull = false;
  const [ofB = ""] = await sms({ queue: "b" });
  const [ofA = ""] = await sms({ queue: "a" });
  expect((await claim(10, "a")).map(({ messageId }) => messageId)).toEqual([ofA]);
  expect((await claim(10, "b")).map(({ messageId }) => messageId)).toEqual([ofB]);
  await store.close();
});
