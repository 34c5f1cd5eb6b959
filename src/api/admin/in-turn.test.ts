import { expect, test } from "bun:test";
import { createInTurn } from "./in-turn.ts";

test("work under one name is done in turn, also behind work that failed; that under another does not wait", async () => {
  const inTurn = createInTurn();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = (name: string, word: string, before?: Promise<void>) =>
    inTurn(name, async () => {
      await before;
      done.push(word);
      if (word === "fails") throw new Error("refused");
      return word;
    });
  const all = [
    work("a", "first", first.promise),
    work("a", "fails"),
    work("a", "behind it"),
    work("b", "another"),
  ];
  expect(await all[3]).toBe("another");
  first.resolve();
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  expect(done).toEqual(["another", "first", "fails", "behind it"]);
});
