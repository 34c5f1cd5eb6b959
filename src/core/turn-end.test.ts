import { expect, test } from "bun:test";
import { createTurns, turns } from "./turns.ts";

test("what requests bring runs before what is last, whichever was asked for first; what comes of it runs in the same turn", async () => {
  const ran: string[] = [];
  const ended = Promise.withResolvers<void>();
  turns.last(() => ran.push("last"));
  turns.inStep(() => {
    ran.push("first");
    void Promise.resolve().then(() => turns.last(() => ran.push("of the first")));
    setImmediate(() => {
      ran.push("next turn");
      ended.resolve();
    });
  });
  turns.inStep(() => ran.push("second"));
  expect(ran).toEqual([]);
  await ended.promise;
  expect(ran).toEqual(["first", "second", "last", "of the first", "next turn"]);
});

test("what is asked for in a step comes at the end of the next turn, and nothing is left behind", () => {
  const scheduled: (() => void)[] = [];
  const ran: string[] = [];
  const { inStep, last } = createTurns((run) => void scheduled.push(run));
  const end = () => {
    for (const run of scheduled.splice(0)) run();
  };
  inStep(() => {
    ran.push("a");
    inStep(() => ran.push("c"));
  });
  last(() => {
    ran.push("b");
    last(() => ran.push("d"));
  });
  end();
  expect(ran).toEqual(["a", "b"]);
  end();
  expect(ran).toEqual(["a", "b", "c", "d"]);
  expect(scheduled).toEqual([]);
});
