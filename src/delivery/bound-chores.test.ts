import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { Chore } from "../core/work/chores.ts";
import type { DroppedInbound, DroppedReceipts } from "../store/store.ts";
import { boundChores, MAX_PARKED, MAX_UNASSIGNED } from "./bound-chores.ts";

/** The two chores on a store that drops what the test says. */
function open() {
  const clock = createHeldClock();
  const lines: unknown[] = [];
  const counted: unknown[] = [];
  const asked: unknown[] = [];
  const dropped: { receipts: readonly DroppedReceipts[]; messages: readonly DroppedInbound[] } = {
    receipts: [],
    messages: [],
  };
  const [parked, unassigned] = boundChores({
    receipts: {
      dropParked: async ({ most }) => {
        asked.push(most);
        return dropped.receipts;
      },
    },
    inbound: {
      dropUnassigned: async ({ most }) => {
        asked.push(most);
        return dropped.messages;
      },
    },
    clock,
    log: { warn: (fields, words) => lines.push([words, fields.dropped]) },
    observe: {
      droppedReceipts: (each) => counted.push(each),
      droppedInbound: (each) => counted.push(each),
    },
  }) as readonly [Chore, Chore];
  return { clock, lines, counted, asked, dropped, parked, unassigned };
}

const PARKED = "receipts that match no message are too many; the oldest went";
const UNASSIGNED = "inbound messages that belong to no account are too many; the oldest went";

test("what goes of too many parked receipts is counted each time, and told of once a minute, all of it", async () => {
  const { clock, lines, counted, asked, dropped, parked } = open();
  const run = (...receipts: readonly DroppedReceipts[]) => {
    dropped.receipts = receipts;
    return parked.run(clock.now());
  };

  expect(await run()).toBe(0);
  expect(await run({ connectorId: "a", receipts: 500 }, { connectorId: "b", receipts: 1 })).toBe(501);
  expect(await run({ connectorId: "a", receipts: 7 })).toBe(7);
  await clock.advance(59_999);
  expect(await run({ connectorId: "a", receipts: 3 })).toBe(3);
  expect(lines).toEqual([[PARKED, { a: 500, b: 1 }]]);
  await clock.advance(1);
  await run();
  expect(lines).toEqual([
    [PARKED, { a: 500, b: 1 }],
    [PARKED, { a: 10 }],
  ]);
  expect(counted).toHaveLength(4);
  expect(new Set(asked)).toEqual(new Set([MAX_PARKED]));
});

test("what goes of too many inbound messages of no account is counted and told of likewise, and apart from receipts", async () => {
  const { clock, lines, counted, asked, dropped, parked, unassigned } = open();
  dropped.receipts = [{ connectorId: "a", receipts: 2 }];
  await parked.run(clock.now());
  dropped.messages = [{ connectorId: "a", messages: 500 }];
  expect(await unassigned.run(clock.now())).toBe(500);
  expect(await unassigned.run(clock.now())).toBe(500);
  expect(lines).toEqual([
    [PARKED, { a: 2 }],
    [UNASSIGNED, { a: 500 }],
  ]);
  dropped.messages = [];
  await clock.advance(60_000);
  expect(await unassigned.run(clock.now())).toBe(0);
  expect(lines[2]).toEqual([UNASSIGNED, { a: 500 }]);
  expect(counted).toEqual([
    { connector: "a", count: 2 },
    { connector: "a", count: 500 },
    { connector: "a", count: 500 },
  ]);
  expect(asked).toEqual([MAX_PARKED, MAX_UNASSIGNED, MAX_UNASSIGNED, MAX_UNASSIGNED]);
});

test("a connector that brings a thousand in each transaction never has more than that above what is kept", async () => {
  const kept = [MAX_PARKED, MAX_UNASSIGNED];
  const dropOf =
    (at: number) =>
    ({ most, limit }: { most: number; limit: number }) => {
      const found = (kept[at] ?? 0) + 1_000;
      const gone = Math.min(found - most, limit);
      kept[at] = found - gone;
      return gone;
    };
  const [dropReceipts, dropMessages] = [dropOf(0), dropOf(1)];
  const chores = boundChores({
    receipts: { dropParked: async (bounds) => [{ connectorId: "a", receipts: dropReceipts(bounds) }] },
    inbound: { dropUnassigned: async (bounds) => [{ connectorId: "a", messages: dropMessages(bounds) }] },
    clock: createHeldClock(),
    log: { warn: () => {} },
    observe: { droppedReceipts: () => {}, droppedInbound: () => {} },
  });
  for (let runs = 0; runs < 20; runs++) {
    for (const chore of chores) await chore.run(0);
    expect(kept).toEqual([MAX_PARKED, MAX_UNASSIGNED]);
  }
});
