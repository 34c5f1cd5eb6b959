import { expect, test } from "bun:test";
import { createNextConnector } from "./next-connector.ts";
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
  const next = createNextConnector();
  const outlets = [A, B];
  expect(next.instead("m", { outlet: A, outlets })).toBeUndefined();
  expect(next.deferred("m", { outlet: A, outlets })).toBe(true);
  expect(next.instead("m", { outlet: A, outlets })).toBe(B);
  expect(next.instead("m", { outlet: B, outlets })).toBeUndefined();
  expect(next.instead("another", { outlet: A, outlets })).toBeUndefined();
  expect(next.deferred("m", { outlet: B, outlets })).toBe(false);
  expect(next.instead("m", { outlet: A, outlets })).toBeUndefined();
  expect(next.deferred("m", { outlet: B, outlets })).toBe(true);
  expect(next.instead("m", { outlet: B, outlets })).toBe(A);
  next.forget("m");
  expect(next.instead("m", { outlet: B, outlets })).toBeUndefined();
});

test("one that is down, full or unhealthy is no next one", () => {
  for (const state of [{ isUp: false }, { available: 0 }, { score: 0.49 }]) {
    const next = createNextConnector();
    const other = outlet("b", state);
    expect(next.deferred("m", { outlet: A, outlets: [A, other] })).toBe(false);
    expect(next.deferred("m", { outlet: A, outlets: [A, B] })).toBe(true);
    expect(next.instead("m", { outlet: A, outlets: [A, other] })).toBeUndefined();
  }
});

test("of many that are deferred the longest known are forgotten", () => {
  const next = createNextConnector();
  const outlets = [A, B];
  for (let index = 0; index <= 10_000; index++) next.deferred(`m-${index}`, { outlet: A, outlets });
  expect(next.instead("m-0", { outlet: A, outlets })).toBeUndefined();
  expect(next.instead("m-1", { outlet: A, outlets })).toBe(B);
});
