import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createCredentialGate } from "./credential-gate.ts";

const one = {};
const other = {};

test("the alarm is raised by the first refusal and cleared by the first bind that is accepted, not between", async () => {
  const clock = createHeldClock();
  const alarms: (string | undefined)[] = [];
  const gate = createCredentialGate(clock, (reason) => alarms.push(reason));
  gate.passed(one);
  gate.left(one);
  for (const reason of ["wrong password", "still wrong"]) {
    expect(gate.holdMs(one)).toBe(0);
    await clock.advance(gate.refused(one, reason));
  }
  expect(alarms).toEqual(["wrong password"]);
  expect(gate.reason()).toStartWith("still wrong; ");
  gate.passed(one);
  gate.passed(one);
  expect(alarms).toEqual(["wrong password", undefined]);
});

test("while it is closed one bind tries, and the others wait for its answer", async () => {
  const clock = createHeldClock();
  const gate = createCredentialGate(clock, () => {});
  await clock.advance(gate.refused(one, "wrong password"));
  expect(gate.holdMs(one)).toBe(0);
  expect(gate.holdMs(other)).toBeGreaterThan(0);
  gate.passed(one);
  expect(gate.holdMs(other)).toBe(0);
});

test("a bind that was up when another was refused is not held back, nor the end of the alarm, until it is refused itself", () => {
  const clock = createHeldClock();
  const alarms: (string | undefined)[] = [];
  const gate = createCredentialGate(clock, (reason) => alarms.push(reason));
  gate.passed(one);
  gate.refused(other, "one bind too many");
  gate.left(one);
  expect(gate.holdMs(one)).toBe(0);
  gate.passed(one);
  gate.left(one);
  expect(alarms).toEqual(["one bind too many"]);
  expect(gate.holdMs(one)).toBe(0);
  expect(gate.holdMs(other)).toBe(300_000);
  gate.refused(one, "wrong password");
  expect([one, other].map(gate.holdMs)).toEqual([300_000, 300_000]);
});

test("the bind that was refused leaves the next try to one that waits, but for no longer than a moment", async () => {
  const clock = createHeldClock();
  const gate = createCredentialGate(clock, () => {});
  gate.refused(one, "no receivers");
  const waitMs = gate.holdMs(other);
  await clock.advance(waitMs);
  const giveWayMs = gate.holdMs(one);
  expect(giveWayMs).toBeLessThanOrEqual(1_000);
  expect(gate.holdMs(other)).toBe(0);
  gate.refused(other, "wrong password");
  gate.holdMs(one);
  await clock.advance(300_000);
  expect(gate.holdMs(other)).toBeGreaterThan(0);
  await clock.advance(giveWayMs);
  expect(gate.holdMs(other)).toBe(0);
});

test("the alarm ends when the last of the binds that are held back is tried no more", () => {
  const alarms: (string | undefined)[] = [];
  const gate = createCredentialGate(createHeldClock(), (reason) => alarms.push(reason));
  gate.passed(one);
  gate.refused(other, "one bind too many");
  gate.gone(one);
  expect(alarms).toEqual(["one bind too many"]);
  gate.gone(other);
  expect(alarms).toEqual(["one bind too many", undefined]);

  gate.left(one);
  gate.refused(other, "wrong password");
  gate.holdMs(one);
  gate.gone(other);
  expect(alarms.at(-1)).toBe("wrong password");
  expect(gate.holdMs(one)).toBe(300_000);
  gate.gone(one);
  expect(alarms.at(-1)).toBeUndefined();
});
