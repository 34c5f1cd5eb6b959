import { expect, test } from "bun:test";
import { createWorld, type World } from "../contract/world.contract.ts";
import { openInMemory } from "./sqlite-world.contract.ts";

/** Turns of the event loop that begin and end while `work` runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

/** Enough for a page that passes over all of them to take several pieces. */
async function sendMany({ sms, claim, settle }: Pick<World, "sms" | "claim" | "settle">): Promise<void> {
  const to = Array.from({ length: 900 }, (_, index) => `+91${index}`);
  await sms({ to, content: { callbackUrl: "https://hooks.test/" } });
  for (const job of await claim(to.length)) await settle(job);
}

test("a list that passes over many messages lets others work in between", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  await sendMany(world);
  const query = { accountId: world.account.id, channel: "sms", limit: 5, createdFrom: 0 } as const;
  const list = () => store.messages.list({ ...query, status: "failed" });
  expect(await turnsDuring(list)).toBeGreaterThanOrEqual(2);
  expect(await list()).toEqual({ messages: [] });
  await store.close();
});

test("so does a list of webhooks, and a replay of them", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  await sendMany(world);
  const selection = { accountId: world.account.id, host: "nowhere.test" };
  const list = () => store.outbox.list(selection, { limit: 5 });
  const replay = () => store.outbox.replayAll(selection, { limit: 5 });
  for (const walk of [list, replay]) expect(await turnsDuring(walk)).toBeGreaterThanOrEqual(3);
  expect(await list()).toEqual({ events: [] });
  expect(await replay()).toEqual({ replayed: 0 });
  await store.close();
});
