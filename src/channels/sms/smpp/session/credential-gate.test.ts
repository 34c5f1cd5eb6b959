import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createCredentialGate } from "./credential-gate.ts";

test("the alarm is raised by the first refusal and cleared by the first bind that is accepted, not between", async () => {
  const clock = createHeldClock();
  const alarms: (string | undefined)[] = [];
  const gate = createCredentialGate(clock, (reason) => alarms.push(reason));
  gate.passed();
  for (const reason of ["wrong password", "still wrong"]) {
    expect(gate.holdMs()).toBe(0);
    await clock.advance(gate.refused(reason));
  }
  expect(alarms).toEqual(["wrong password"]);
  expect(gate.reason()).toStartWith("still wrong; ");
  gate.passed();
  gate.passed();
  expect(alarms).toEqual(["wrong password", undefined]);
});

test("while it is closed one bind tries, and the others wait for its answer", async () => {
  const clock = createHeldClock();
  const gate = createCredentialGate(clock, () => {});
  await clock.advance(gate.refused("wrong password"));
  expect(gate.holdMs()).toBe(0);
  expect(gate.holdMs()).toBeGreaterThan(0);
  gate.passed();
  expect(gate.holdMs()).toBe(0);
});
