import { expect, test } from "bun:test";
import { createInStep } from "./in-step.ts";

test("what a turn brings runs at its end, in its order; what comes of that runs at the end of the next", () => {
  const turns: (() => void)[] = [];
  const ran: string[] = [];
  const inStep = createInStep((run) => void turns.push(run));
  inStep(() => {
    ran.push("a");
    inStep(() => ran.push("c"));
  });
  inStep(() => ran.push("b"));
  expect(ran).toEqual([]);
  turns.shift()?.();
  expect(ran).toEqual(["a", "b"]);
  turns.shift()?.();
  expect(ran).toEqual(["a", "b", "c"]);
  expect(turns).toEqual([]);
});
