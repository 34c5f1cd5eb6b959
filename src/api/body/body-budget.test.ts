import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { type BodyClient, createBodyBudget, type Reservation } from "./body-budget.ts";

const account = (name: string): BodyClient => ({ name, isAnonymous: false });
const anonymous = (name: string): BodyClient => ({ name, isAnonymous: true });
const of = (client: BodyClient): Reservation => ({ client, octets: 0 });

/** How much a client gets, octet by octet. */
function fill(budget: ReturnType<typeof createBodyBudget>, client: BodyClient): Reservation {
  const reservation = of(client);
  while (budget.reserve(reservation, 1));
  return reservation;
}

test("alone an account gets three quarters, and each one after it of what is left", () => {
  const budget = createBodyBudget(6_400);
  const held = ["a", "b", "c"].map((name) => fill(budget, account(name)).octets);
  expect(held).toEqual([4_800, 1_200, 300]);
});

test("alone an anonymous client gets an eighth, and all of them together a half", () => {
  const budget = createBodyBudget(6_400);
  expect(fill(budget, anonymous("first")).octets).toBe(800);
  let others = 0;
  for (let n = 0; n < 100; n++) others += fill(budget, anonymous(String(n))).octets ?? 0;
  expect(800 + others).toBe(3_200);
  expect(fill(budget, account("a")).octets).toBe(2_400);
});

test("an account's bodies count together, and leave room for others, as those of anonymous clients do", () => {
  const budget = createBodyBudget(6_400);
  const first = of(account("a"));
  expect(budget.reserve(first, 4_000)).toBe(true);
  const second = of(account("a"));
  expect([budget.reserve(second, 801), budget.reserve(second, 800)]).toEqual([false, true]);
  expect([budget.reserve(of(anonymous("x")), 201), budget.reserve(of(anonymous("x")), 200)]).toEqual([
    false,
    true,
  ]);
});

test("what is released is there again, once, and nothing is added to it later", () => {
  const budget = createBodyBudget(6_400);
  for (const client of [account("a"), anonymous("x")]) {
    const most = fill(budget, client);
    const { octets } = most;
    budget.release(most);
    budget.release(most);
    expect(budget.reserve(most, 1)).toBe(false);
    const again = fill(budget, client);
    expect(again.octets).toBe(octets!);
    budget.release(again);
  }
  expect(fill(budget, account("b")).octets).toBe(4_800);
});

test("nothing is kept of a client whose bodies are done", () => {
  const budget = createBodyBudget(6_400);
  const objects = () => {
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const before = objects();
  for (let n = 0; n < 20_000; n++) {
    const reservation = of(anonymous(`10.0.0.${n}`));
    budget.reserve(reservation, 100);
    budget.release(reservation);
  }
  expect(objects() - before).toBeLessThan(5_000);
  // What is used no more is not kept at all.
  expect(fill(budget, account("a")).octets).toBe(4_800);
});
