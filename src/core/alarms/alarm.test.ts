import { expect, test } from "bun:test";
import { CLEAR_AFTER_MS, type Condition, judgeAlarms, raisedAlarms, type Troubles } from "./alarm.ts";

const DOWN: Condition = { name: "connector_down", subject: "c1", reason: "refused", raiseAfterMs: 60_000 };

const at = (ms: number) => ({ now: ms, monotonicMs: ms });

/** Judges every second: `true` where it is wrong. */
function watch(isWrong: (second: number) => boolean, seconds: number) {
  let troubles: Troubles = new Map();
  const seen: string[] = [];
  for (let second = 0; second <= seconds; second++) {
    const judged = judgeAlarms(troubles, isWrong(second) ? [DOWN] : [], at(second * 1_000));
    troubles = judged.troubles;
    seen.push(...judged.changes.map(({ kind, at }) => `${kind} ${at / 1_000}`));
  }
  return { seen, troubles };
}

test("what is wrong for long enough is raised, once, and cleared when it has been right for a while", () => {
  const { seen, troubles } = watch((second) => second < 100, 200);
  expect(seen).toEqual(["raised 60", `cleared ${100 + CLEAR_AFTER_MS / 1_000}`]);
  expect(troubles.size).toBe(0);
});

test("what is wrong for a short time raises nothing", () => {
  expect(watch((second) => second < 59, 200).seen).toEqual([]);
});

test("what comes and goes is one alarm, raised as if it had stayed", () => {
  const { seen, troubles } = watch((second) => second % 10 < 5, 300);
  expect(seen).toEqual(["raised 60"]);
  expect(raisedAlarms(troubles)).toEqual([
    { name: "connector_down", subject: "c1", reason: "refused", since: 0, raisedAt: 60_000 },
  ]);
});

test("alarms of several subjects are apart, and the oldest comes first", () => {
  const now = { ...DOWN, raiseAfterMs: 0 };
  const first = judgeAlarms(new Map(), [{ ...now, subject: "b" }], at(1));
  const both = judgeAlarms(
    first.troubles,
    [
      { ...now, subject: "a" },
      { ...now, subject: "b", reason: "new" },
    ],
    at(2),
  );
  expect(both.changes.map(({ alarm }) => alarm.subject)).toEqual(["a"]);
  expect(raisedAlarms(both.troubles).map(({ subject, reason }) => [subject, reason])).toEqual([
    ["b", "new"],
    ["a", "refused"],
  ]);
});

test("alarms that were raised at once are always in the same order", () => {
  const [a, b] = ["a", "b"].map((subject) => ({ ...DOWN, raiseAfterMs: 0, subject })) as [
    Condition,
    Condition,
  ];
  const orders = [
    [a, b],
    [b, a],
  ].map((conditions) => raisedAlarms(judgeAlarms(new Map(), conditions, at(1)).troubles));
  expect(orders[0]).toEqual(orders[1] as (typeof orders)[0]);
});

test("what is known to have lasted is raised at once if that was long enough, and tells since when", () => {
  const lasted = { ...DOWN, lastedMs: 59_000 };
  const first = judgeAlarms(new Map(), [lasted], at(100_000));
  expect(first.changes).toEqual([]);
  const { troubles } = judgeAlarms(first.troubles, [{ ...DOWN, lastedMs: 62_000 }], at(103_000));
  expect(raisedAlarms(troubles)).toMatchObject([{ since: 41_000, raisedAt: 103_000 }]);
});
