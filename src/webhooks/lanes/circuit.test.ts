import { expect, test } from "bun:test";
import type { HostHealth } from "../judge.ts";
import { admits, afterAttempt, type Circuit, CLOSED, isForNewest, UNPROVEN } from "./circuit.ts";

const FAILING: HostHealth = { kind: "failing", reason: "timeout" };
const HEALTHY: HostHealth = { kind: "healthy" };

/** The circuit after so many failures, one every `everyMs`. */
function failing(count: number, everyMs: number, from: Circuit = CLOSED, startMs = 0): Circuit {
  let circuit = from;
  for (let i = 0; i < count; i++) {
    circuit = afterAttempt(circuit, FAILING, { now: startMs + i * everyMs, jitter: 0.5 });
  }
  return circuit;
}

test("a host that fails ten times in a row for half a minute is paused for ten seconds", () => {
  expect(admits(failing(9, 5_000), 40_000)).toBe("any");
  const open = failing(10, 5_000);
  expect(open.reason).toBe("timeout");
  expect(admits(open, 45_000 + 9_999)).toBe("none");
  expect(admits(open, 45_000 + 10_000)).toBe("one");
});

test("a burst of failures within half a minute pauses nobody", () => {
  for (const startMs of [0, 3_600_000])
    expect(admits(failing(1_000, 1, CLOSED, startMs), startMs + 1_000)).toBe("any");
});

test("a host that has taken nothing yet is paused at its tenth failure in a row, and once it has taken something only after half a minute", () => {
  expect(admits(failing(9, 1, UNPROVEN), 9)).toBe("any");
  const open = failing(10, 1, UNPROVEN);
  expect([admits(open, 10), admits(open, 9 + 10_000)]).toEqual(["none", "one"]);
  const proven = afterAttempt(UNPROVEN, HEALTHY, { now: 0, jitter: 0.5 });
  expect(admits(failing(1_000, 1, proven), 1_000)).toBe("any");
});

test("a host that has taken nothing and answers with errors is paused for a second at a time, for the newest and the oldest event by turns, and for long after half a minute", () => {
  const answers: HostHealth = { ...FAILING, isThere: true, mayBeOfUrl: true };
  let circuit: Circuit = UNPROVEN;
  let now = 0;
  const pauses: number[] = [];
  const forNewest: boolean[] = [];
  while (now < 90_000) {
    circuit = afterAttempt(circuit, answers, { now, jitter: 0.5 });
    if (circuit.openUntil === undefined) continue;
    pauses.push(circuit.openUntil - now);
    forNewest.push(isForNewest(circuit));
    now = circuit.openUntil;
  }
  expect(pauses).toEqual([...Array(30).fill(1_000), 10_000, 20_000, 30_000]);
  expect(forNewest).toEqual(pauses.map((_, index) => index % 2 === 0));
});

test("the short pauses of a host that has taken nothing make no later one longer, however many they were", () => {
  const answers: HostHealth = { ...FAILING, isThere: true, mayBeOfUrl: true };
  const firstLongMs = (triesTakeMs: number) => {
    let circuit: Circuit = UNPROVEN;
    let pauseMs = 0;
    for (let now = 0; pauseMs < 2_000; now = (circuit.openUntil ?? now) + triesTakeMs) {
      circuit = afterAttempt(circuit, answers, { now, jitter: 0.5 });
      pauseMs = (circuit.openUntil ?? now) - now;
    }
    return pauseMs;
  };
  for (const triesTakeMs of [0, 20, 50, 100, 200, 500]) expect(firstLongMs(triesTakeMs)).toBe(10_000);
});

test("a success in between begins the count anew", () => {
  const once = afterAttempt(failing(9, 10_000), HEALTHY, { now: 90_000, jitter: 0.5 });
  expect(once).toEqual(CLOSED);
  expect(admits(failing(9, 10_000, once, 91_000), 200_000)).toBe("any");
});

test("after the pause one try decides: a success closes, a failure pauses for twice as long, ten minutes at most", () => {
  const open = failing(10, 5_000);
  expect(afterAttempt(open, HEALTHY, { now: 60_000, jitter: 0.5 })).toEqual(CLOSED);
  const pauses: number[] = [];
  let circuit = open;
  for (let i = 0; i < 9; i++) {
    const now = circuit.openUntil ?? 0;
    circuit = afterAttempt(circuit, FAILING, { now, jitter: 0.5 });
    pauses.push(((circuit.openUntil ?? 0) - now) / 1_000);
  }
  expect(pauses).toEqual([20, 40, 80, 160, 320, 600, 600, 600, 600]);
});

test("a host that answers, if only with errors, is paused for half a minute at most", () => {
  let circuit = failing(10, 5_000);
  const pauses: number[] = [];
  for (const isThere of [true, true, false, false, true, true]) {
    const now = circuit.openUntil ?? 0;
    circuit = afterAttempt(circuit, { ...FAILING, ...(isThere && { isThere }) }, { now, jitter: 0.5 });
    pauses.push(((circuit.openUntil ?? 0) - now) / 1_000);
  }
  expect(pauses).toEqual([20, 30, 80, 160, 30, 30]);
});

test("after the first pause for failures, and every other one, the try is for the newest event; after a Retry-After never", () => {
  let circuit = failing(9, 5_000);
  const isForNewestAfter: boolean[] = [isForNewest(circuit)];
  for (let i = 0; i < 4; i++) {
    circuit = afterAttempt(circuit, FAILING, { now: circuit.openUntil ?? 45_000, jitter: 0.5 });
    isForNewestAfter.push(isForNewest(circuit));
  }
  expect(isForNewestAfter).toEqual([false, true, false, true, false]);
  const asked = afterAttempt(CLOSED, { ...FAILING, retryAfterMs: 5_000 }, { now: 0, jitter: 0.5 });
  expect([admits(asked, 0), isForNewest(asked)]).toEqual(["none", false]);
});

test("pauses are spread by a tenth either way", () => {
  const before = failing(9, 5_000);
  const at = (jitter: number) => afterAttempt(before, FAILING, { now: 45_000, jitter }).openUntil;
  expect([at(0), at(0.5)]).toEqual([54_000, 55_000]);
});

test("failures of tries that were under way when it was paused do not make the pause longer, and a success ends it", () => {
  const open = failing(10, 5_000);
  const later = afterAttempt(open, FAILING, { now: 46_000, jitter: 0.5 });
  expect([later.openUntil, later.pauses]).toEqual([open.openUntil, open.pauses]);
  expect(afterAttempt(later, HEALTHY, { now: 47_000, jitter: 0.5 })).toEqual(CLOSED);
});

test("a host that asks for time is left alone for it, a minute at most, and never for less", () => {
  const asked = (retryAfterMs: number) =>
    afterAttempt(CLOSED, { ...FAILING, retryAfterMs }, { now: 1_000, jitter: 0 });
  expect(admits(asked(20_000), 20_999)).toBe("none");
  expect(admits(asked(20_000), 21_000)).toBe("one");
  expect(admits(asked(86_400_000), 61_000)).toBe("one");
  expect(admits(asked(0), 1_000)).toBe("any");
});

test("a host that asks for time without saying how much is left alone for half a second, then twice as long each time, until a success", () => {
  const asks: HostHealth = { kind: "failing", reason: "status 429", isThere: true, asksForTime: true };
  const pauses: number[] = [];
  let circuit = CLOSED;
  for (let i = 0; i < 8; i++) {
    const now = circuit.openUntil ?? 0;
    circuit = afterAttempt(circuit, asks, { now, jitter: 0.5 });
    pauses.push((circuit.openUntil ?? 0) - now);
    expect(isForNewest(circuit)).toBe(false);
  }
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  const well = afterAttempt(circuit, HEALTHY, { now: circuit.openUntil ?? 0, jitter: 0.5 });
  expect(well).toEqual(CLOSED);
  expect(afterAttempt(well, asks, { now: 0, jitter: 0 }).openUntil).toBe(450);
  // One that says how much is none of these times.
  const said = afterAttempt(CLOSED, { ...FAILING, retryAfterMs: 1_000 }, { now: 0, jitter: 0.5 });
  expect(afterAttempt(said, asks, { now: 1_000, jitter: 0.5 }).openUntil).toBe(1_500);
});

test("what says nothing about the host changes nothing", () => {
  const circuit = failing(5, 5_000);
  for (const kind of ["unknown", "answering"] as const)
    expect(afterAttempt(circuit, { kind }, { now: 30_000, jitter: 0.5 })).toBe(circuit);
});
