import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { createIds, firstUuidAt, isUuid, uuidTime } from "./uuid.ts";

describe("making ids", () => {
  test("an id carries version, variant and the clock's time", () => {
    const id = createIds({ now: () => 1_645_557_742_000 }, randomBytes)();
    expect(id).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuidTime(id)).toBe(1_645_557_742_000);
  });

  test("ids ascend while the clock stands still", () => {
    const next = createIds({ now: () => 5 }, randomBytes);
    const ids = Array.from({ length: 20_000 }, next);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    expect(uuidTime(ids.at(-1)!)).toBe(5);
  });

  test("ids ascend whatever the clock does within seconds", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 2 }), (times) => {
        let i = 0;
        const next = createIds({ now: () => times[i++]! }, randomBytes);
        const ids = times.map(next);
        for (let k = 1; k < ids.length; k++) expect(ids[k]! > ids[k - 1]!).toBe(true);
        expect(ids.every((id) => uuidTime(id) !== undefined)).toBe(true);
      }),
    );
  });

  test("a clock that is set back by more than ten seconds takes the ids along, which stay different", () => {
    let now = 1_700_000_000_000;
    const next = createIds({ now: () => now }, randomBytes);
    const ids = Array.from({ length: 1_000 }, next);
    now -= 10_000;
    expect(uuidTime(next())).toBe(1_700_000_000_000);
    now -= 1;
    const later = Array.from({ length: 1_000 }, next);
    expect(later).toEqual([...later].sort());
    expect(uuidTime(later.at(-1)!)).toBe(now);
    now += 10_001;
    expect(new Set([...ids, ...later, ...Array.from({ length: 1_000 }, next)]).size).toBe(3_000);
  });

  test("the counter is never predictable from the time alone", () => {
    const now = () => 5;
    expect(createIds({ now }, randomBytes)().slice(15)).not.toBe(createIds({ now }, randomBytes)().slice(15));
  });

  test("a source that gives only ones still leaves room for half of the counter", () => {
    const next = createIds({ now: () => 5 }, (count) => new Uint8Array(count).fill(0xff));
    expect(next()).toBe("00000000-0005-77ff-bfff-ffffffffffff");
    expect(next()).toBe("00000000-0005-7800-8000-ffffffffffff");
  });
});

describe("reading ids", () => {
  test("the example of RFC 9562 is 2022-02-22T19:22:22Z", () => {
    expect(uuidTime("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")).toBe(Date.UTC(2022, 1, 22, 19, 22, 22));
  });

  test.each([
    "",
    "x",
    "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
    "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
    "017f22e279b07cc398c4dc0c0c07398f",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n",
  ])("%p is no UUIDv7", (text) => {
    expect(uuidTime(text)).toBeUndefined();
  });

  test("a UUID of any version and case is one", () => {
    expect(isUuid("9F1B0C34-0D2B-4a53-8f7e-2c1d0a9b8c7d")).toBe(true);
    expect(isUuid("9f1b0c34-0d2b-4a53-8f7e-2c1d0a9b8c7")).toBe(false);
    expect(isUuid("{9f1b0c34-0d2b-4a53-8f7e-2c1d0a9b8}")).toBe(false);
  });

  test("the first id of a millisecond bounds its ids from below and those before from above", () => {
    const ids = createIds({ now: () => 1_700_000_000_000 }, randomBytes);
    const id = ids();
    expect(firstUuidAt(1_700_000_000_000) <= id).toBe(true);
    expect(id < firstUuidAt(1_700_000_000_001)).toBe(true);
    expect(uuidTime(firstUuidAt(42))).toBe(42);
  });
});
