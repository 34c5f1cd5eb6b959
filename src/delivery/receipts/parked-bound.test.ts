import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { DroppedReceipts } from "../../store/store.ts";
import { MAX_PARKED, parkedBoundChore } from "./parked-bound.ts";

test("what goes of too many parked receipts is counted each time, and told of once a minute, all of it", async () => {
  const clock = createHeldClock();
  const lines: unknown[] = [];
  const counted: unknown[] = [];
  const asked: unknown[] = [];
  let dropped: readonly DroppedReceipts[] = [];
  const chore = parkedBoundChore({
    receipts: {
      dropParked: async ({ most }) => {
        asked.push(most);
        return dropped;
      },
    },
    clock,
    log: { warn: (fields) => lines.push(fields.dropped) },
    observe: { droppedReceipts: (each) => counted.push(each) },
  });
  const run = (...counts: readonly DroppedReceipts[]) => {
    dropped = counts;
    return chore.run(clock.now());
  };

  expect(await run()).toBe(0);
  expect(await run({ connectorId: "a", receipts: 500 }, { connectorId: "b", receipts: 1 })).toBe(501);
  expect(await run({ connectorId: "a", receipts: 7 })).toBe(7);
  await clock.advance(59_999);
  expect(await run({ connectorId: "a", receipts: 3 })).toBe(3);
  expect(lines).toEqual([{ a: 500, b: 1 }]);
  await clock.advance(1);
  await run();
  expect(lines).toEqual([{ a: 500, b: 1 }, { a: 10 }]);
  expect(counted).toHaveLength(4);
  expect(new Set(asked)).toEqual(new Set([MAX_PARKED]));
});

test("a connector that brings a thousand receipts in each transaction never has more than that above what is kept", async () => {
  let parked = MAX_PARKED;
  const chore = parkedBoundChore({
    receipts: {
      dropParked: async ({ most, limit }) => {
        parked += 1_000;
        const receipts = Math.min(parked - most, limit);
        parked -= receipts;
        return [{ connectorId: "a", receipts }];
      },
    },
    clock: createHeldClock(),
    log: { warn: () => {} },
    observe: { droppedReceipts: () => {} },
  });
  for (let runs = 0; runs < 20; runs++) {
    await chore.run(0);
    expect(parked).toBe(MAX_PARKED);
  }
});
