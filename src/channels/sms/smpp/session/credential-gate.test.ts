import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createCredentialGate } from "./credential-gate.ts";

const one = {};
const other = {};

test("the alarm is raised by the first refusal and cleared by the first bind that is accepted, not between", async () => {
  const clock = createHeldClock();
  const gate = createCredentialGate(clock);
  gate.passed(one);
  gate.left(one);
  for (const reason of ["wrong password", "still wrong"]) {
    expect(gate.isClosed()).toBe(reason === "still wrong");
    expect(gate.holdMs(one)).toBe(0);
    const againMs = gate.refused(one, reason);
    expect(gate.isClosed()).toBe(true);
    await clock.advance(againMs);
  }
  expect(gate.isClosed()).toBe(true);
  expect(gate.reason()).toStartWith("still wrong; ");
  gate.passed(one);
  expect(gate.isClosed()).toBe(false);
  gate.passed(one);
  expect(gate.isClosed()).toBe(false);
});

test("while it is closed one bind tries, and the others wait for its answer", async () => {
  const clock = createHeldClock();
  const gate = createCredentialGate(clock);
  await clock.advance(gate.refused(one, "wrong password"));
  expect(gate.holdMs(one)).toBe(0);
  expect(gate.holdMs(other)).toBeGreaterThan(0);
  gate.passed(one);
  expect(gate.holdMs(other)).toBe(0);
});

test("a bind that was up when another was refused is not held back, nor the end of the alarm, until it is refused itself", () => {
  const gate = createCredentialGate(createHeldClock());
  gate.passed(one);
  gate.refused(other, "one bind too many");
  gate.left(one);
  expect(gate.holdMs(one)).toBe(0);
  gate.passed(one);
  gate.left(one);
  expect(gate.isClosed()).toBe(true);
  expect(gate.holdMs(one)).toBe(0);
  expect(gate.holdMs(other)).toBe(300_000);
  gate.refused(one, "wrong password");
  expect([one, other].map(gate.holdMs)).toEqual([300_000, 300_000]);
});

test("the bind that was refused leaves the next try to one that waits, but for no longer than a moment", async () => {
  const clock = createHeldClock();
  const gate = createCredentialGate(clock);
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
  const gate = createCredentialGate(createHeldClock());
  gate.passed(one);
  gate.refused(other, "one bind too many");
  gate.gone(one);
  expect(gate.isClosed()).toBe(true);
  gate.gone(other);
  expect(gate.isClosed()).toBe(false);

  gate.left(one);
  gate.refused(other, "wrong password");
  gate.holdMs(one);
  gate.gone(other);
  expect(gate.isClosed()).toBe(true);
  expect(gate.holdMs(one)).toBe(300_000);
  gate.gone(one);
  expect(gate.isClosed()).toBe(false);
});
