import { expect, test } from "bun:test";
import fc from "fast-check";
import { fairShare } from "./fair-share.ts";

test("all slots are shared out, each once, in parts that differ by one at the most, whatever the order in which each process knows the others", () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 1, max: 64 }),
      fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 9 }),
      (name, slots, processes) => {
        const parts = processes.map((process, index) => {
          const known = [...processes.slice(index), ...processes.slice(0, index)];
          return fairShare({ name, slots, process, processes: known });
        });
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(slots);
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
      },
    ),
  );
});

test("the one slot of many connectors does not always go to the same process", () => {
  const processes = ["a", "b"];
  const holders = Array.from({ length: 50 }, (_, index) =>
    processes.find((process) => fairShare({ name: `c${index}`, slots: 1, process, processes }) === 1),
  );
  expect(new Set(holders)).toEqual(new Set(processes));
});
