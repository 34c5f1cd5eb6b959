import { expect, test } from "bun:test";
import pino from "pino";
import { StoreUnavailable } from "../store/store.ts";
import { createSteadyLog } from "./steady-log.ts";

function opened() {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const log = createSteadyLog(
    pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) }),
    { monotonicMs: () => nowMs },
  );
  return {
    log,
    lines,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

const outage = () =>
  new StoreUnavailable("the database cannot be reached", { cause: new Error("ECONNREFUSED") });

test("an outage of the database is told once a second, by whoever meets it first, without a stack", () => {
  const { log, lines, pass } = opened();
  for (let turn = 0; turn < 20; turn++) {
    log.warn({ err: outage(), chore: "stage" }, "upkeep failed; it will be tried again");
    log.warn({ err: outage(), queue: "q" }, "a claim failed");
    pass(100);
  }
  expect(lines).toHaveLength(2);
  expect(lines[0]).toEqual({
    level: 40,
    chore: "stage",
    error: "the database cannot be reached",
    cause: "ECONNREFUSED",
    msg: "upkeep failed; it will be tried again",
  });
});

test("another failure that comes back in every turn is told once a second, of each that it befalls", () => {
  const { log, lines, pass } = opened();
  for (let turn = 0; turn < 20; turn++) {
    for (const chore of ["stage", "expire"])
      log.warn({ err: new Error("index is corrupt"), chore }, "upkeep failed");
    pass(100);
  }
  expect(lines.map(({ chore }) => chore)).toEqual(["stage", "expire", "stage", "expire"]);
});

test("a failure of each of very many jobs within a second is told of each, and takes no time that grows with their number", () => {
  const { log, lines } = opened();
  const err = new Error("no route");
  for (let job = 0; job < 100_000; job++) log.warn({ err, job }, "attempt failed");
  expect(lines).toHaveLength(100_000);
});

test("any other failure is told at once, with its stack", () => {
  const { log, lines } = opened();
  log.error({ err: new Error("a") }, "failed");
  log.error({ err: new Error("b") }, "failed");
  expect(lines.map(({ err }) => (err as { stack?: string }).stack !== undefined)).toEqual([true, true]);
});
