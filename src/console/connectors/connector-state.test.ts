import { expect, test } from "bun:test";
import { type Connector, reasonOf, stateOf } from "./connector-state.ts";

const connector = (status: Connector["status"], isEnabled = true): Connector => ({
  id: "1",
  name: "airtel",
  kind: "smpp",
  config: {},
  secrets: {},
  is_enabled: isEnabled,
  status,
  created_at: "2026-11-28T10:00:00.000Z",
});

test("a connector that is switched off is disabled, whatever it was before, and needs no reason", () => {
  const off = connector({ state: "down", reason: "refused" }, false);
  expect([stateOf(off), reasonOf(off)]).toEqual(["disabled", undefined]);
  expect(stateOf(connector({ state: "down" }))).toBe("down");
});

test("the reason is the one that is told; else some binds that are not up; else what its health suffers from", () => {
  const binds = { up: 1, of: 2 };
  const health = { score: 0.5, problems: ["down", "slow_answers"] };
  const reasons = [
    { state: "down", reason: "refused", binds, health },
    { state: "up", binds, health },
    { state: "up", binds: { up: 2, of: 2 }, health },
    { state: "down", binds, health: { score: 0, problems: ["down"] } },
    { state: "up" },
  ].map((status) => reasonOf(connector(status)));
  expect(reasons).toEqual(["refused", "1 of 2 binds are up", "slow answers", undefined, undefined]);
});
