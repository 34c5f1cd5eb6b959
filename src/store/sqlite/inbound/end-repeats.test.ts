import { expect, test } from "bun:test";
import { piece } from "../../contract/inbound/inbound.contract.ts";
import { createWorld } from "../../contract/world.contract.ts";
import { PIECE } from "../../inbound/end-in-pieces.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

test("what others write waits for one piece only of the messages for which repeats end", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  const since = world.clock.now;
  await store.inbound.receive(Array.from({ length: PIECE + 1 }, () => piece(world)));
  const ended: string[] = [];
  const ending = store.inbound.endRepeats({ connectorId: "connector-a", since, until: since });
  const other = store.inbound.receive([piece(world)]);
  await Promise.all([ending.then(() => ended.push("all")), other.then(() => ended.push("other"))]);
  expect(ended).toEqual(["other", "all"]);
  await store.close();
});
