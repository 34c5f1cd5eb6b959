import { expect, test } from "bun:test";
import { createTurnEnd, turnEnd } from "./turn-end.ts";

test("work on requests runs before commits, whichever was asked for first; the commits that it asks for run in the same turn", async () => {
  const ran: string[] = [];
  const ended = Promise.withResolvers<void>();
  turnEnd.last(() => ran.push("last"));
  turnEnd.first(() => {
    ran.push("first");
    void Promise.resolve().then(() => turnEnd.last(() => ran.push("of the first")));
    setImmediate(() => {
      ran.push("next turn");
      ended.resolve();
    });
  });
  turnEnd.first(() => ran.push("second"));
  expect(ran).toEqual([]);
  await ended.promise;
  expect(ran).toEqual(["first", "second", "last", "of the first", "next turn"]);
});

test("what is asked for in a step comes at the end of the next turn, and nothing is left behind", () => {
  const scheduled: (() => void)[] = [];
  const ran: string[] = [];
  const { first, last } = createTurnEnd((run) => void scheduled.push(run));
  const end = () => {
    for (const run of scheduled.splice(0)) run();
  };
  first(() => {
    ran.push("a");
    first(() => ran.push("c"));
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
