import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createFreshCache } from "./fresh-cache.ts";

const open = () => {
  const clock = createHeldClock();
  return { clock, cache: createFreshCache<string>({ clock, maxEntries: 10 }) };
};

const never = () => Promise.reject(new Error("it was read again"));

test("a value is read again when its reading is a second old, or was forgotten", async () => {
  const { clock, cache } = open();
  await cache.get("a", async () => "first");
  await clock.advance(999);
  expect(cache.get("a", never)).toBe("first");
  await clock.advance(1);
  expect(await cache.get("a", async () => "second")).toBe("second");
  cache.forget();
  expect(await cache.get("a", async () => "third")).toBe("third");
  expect(cache.get("a", never)).toBe("third");
});

test("a reading that was under way when all was forgotten is neither shared from then on nor kept", async () => {
  const { cache } = open();
  const early = Promise.withResolvers<string>();
  const late = Promise.withResolvers<string>();
  const before = cache.get("a", () => early.promise);
  cache.forget();
  const after = cache.get("a", () => late.promise);
  early.resolve("before");
  expect(await before).toBe("before");
  expect(cache.get("a", never)).toBe(after);
  late.resolve("after");
  expect(await after).toBe("after");
  expect(cache.get("a", never)).toBe("after");
});
