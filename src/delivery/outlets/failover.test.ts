import { expect, test } from "bun:test";
import { createFailover } from "./failover.ts";
import type { Outlet } from "./outlet.ts";

interface State {
  readonly isUp?: boolean;
  readonly available?: number;
  readonly score?: number;
}

function outlet(connectorId: string, { isUp = true, available = 1, score = 1 }: State = {}): Outlet {
  return {
    channel: { connectorId },
    isUp: () => isUp,
    available: () => available,
    health: () => ({ score, problems: [] }),
  } as unknown as Outlet;
}

const A = outlet("a");
const B = outlet("b");

test("what one has deferred goes over the next, and when all have it is offered to each again", () => {
  const failover = createFailover();
  const outlets = [A, B];
  expect(failover.next("m", { outlet: A, outlets })).toBeUndefined();
  expect(failover.noteDeferral("m", { outlet: A, outlets })).toBe(true);
  expect(failover.next("m", { outlet: A, outlets })).toBe(B);
  expect(failover.next("m", { outlet: B, outlets })).toBeUndefined();
  expect(failover.next("another", { outlet: A, outlets })).toBeUndefined();
  expect(failover.noteDeferral("m", { outlet: B, outlets })).toBe(false);
  expect(failover.next("m", { outlet: A, outlets })).toBeUndefined();
  expect(failover.noteDeferral("m", { outlet: B, outlets })).toBe(true);
  expect(failover.next("m", { outlet: B, outlets })).toBe(A);
  failover.forget("m");
  expect(failover.next("m", { outlet: B, outlets })).toBeUndefined();
});

test("of several that can take it the one that the route prefers is next", () => {
  const failover = createFailover();
  const outlets = [A, B, outlet("c")];
  failover.noteDeferral("m", { outlet: A, outlets });
  expect(failover.next("m", { outlet: A, outlets })).toBe(B);
});

test("a connector that is down, full or unhealthy is no next one", () => {
  for (const state of [{ isUp: false }, { available: 0 }, { score: 0.49 }]) {
    const failover = createFailover();
    const other = outlet("b", state);
    expect(failover.noteDeferral("m", { outlet: A, outlets: [A, other] })).toBe(false);
    expect(failover.noteDeferral("m", { outlet: A, outlets: [A, B] })).toBe(true);
    expect(failover.next("m", { outlet: A, outlets: [A, other] })).toBeUndefined();
  }
});

test("of many that are deferred the longest known are forgotten", () => {
  const failover = createFailover();
  const outlets = [A, B];
  for (let index = 0; index <= 10_000; index++) failover.noteDeferral(`m-${index}`, { outlet: A, outlets });
  expect(failover.next("m-0", { outlet: A, outlets })).toBeUndefined();
  expect(failover.next("m-1", { outlet: A, outlets })).toBe(B);
});
