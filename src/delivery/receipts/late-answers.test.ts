import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createLateAnswers } from "./late-answers.ts";

function rig() {
  const stored: string[] = [];
  const warned: string[] = [];
  const isOpen = Promise.withResolvers<void>();
  const take = createLateAnswers({
    clock: createHeldClock(),
    log: { info() {}, warn: (_, words) => void warned.push(words) },
    receipts: {
      async recordLateAnswer({ messageId }) {
        await isOpen.promise;
        stored.push(messageId);
      },
    },
  });
  const answer = (count: number) => {
    for (let index = 0; index < count; index++) {
      take({ messageId: `m-${index}`, part: 0, parts: 1, connectorId: "c-1", providerMessageIds: ["x"] });
    }
  };
  const settled = async () => {
    isOpen.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stored, warned, answer, settled };
}

test("an SMSC that answers all it owes at once is heeded in all of it", async () => {
  const { stored, warned, answer, settled } = rig();
  answer(5_000);
  await settled();
  expect(stored).toHaveLength(5_000);
  expect(warned).toEqual([]);
});

test("what is more than can wait is given up, and told", async () => {
  const { stored, warned, answer, settled } = rig();
  answer(10_002);
  await settled();
  expect(stored).toHaveLength(10_000);
  expect(warned).toEqual(Array(2).fill("a late answer was given up: too many wait"));
});
