import { expect, test } from "bun:test";
import { until } from "./until.ts";

test("what is so is awaited, and resolved with", async () => {
  let looks = 0;
  expect(
    await until(
      () => ++looks,
      (count) => count === 3,
    ),
  ).toBe(3);
  expect(await until(async () => [undefined, "found"][++looks - 4], Boolean, { pauseMs: 0 })).toBe("found");
  expect(looks).toBe(5);
});

test("what is never so is looked for no longer, and what was found last is said", async () => {
  let looks = 0;
  const look = async () => ({ status: "queued", looks: ++looks });
  const waiting = until(look, ({ status }) => status === "sent", { withinMs: 50, pauseMs: 1 });
  expect(String(await waiting.catch((error) => error))).toMatch(
    /^Error: not so within 50 ms; last found: .*"queued"/s,
  );
  const last = looks;
  await Bun.sleep(20);
  expect(looks).toBe(last);
});
