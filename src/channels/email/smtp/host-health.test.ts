import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { createHostHealth } from "./host-health.ts";

const GONE = { code: "smtp.connect", message: "gone" };
const REFUSED = { code: "smtp.auth", message: "535 no" };

/** A host whose tries the test answers; its pauses are three quarters of the longest they may be. */
function openHealth() {
  const clock = createHeldClock();
  let tries = 0;
  const health = createHostHealth({
    clock,
    random: () => 0.5,
    probe: () => void tries++,
    onStatus() {},
    reasonOf: ({ message }) => message,
  });
  health.start();
  const expectPause = async (seconds: number) => {
    const before = tries;
    await clock.advance(seconds * 750 - 1);
    expect([tries - before, health.status().state]).toEqual([0, "down"]);
    await clock.advance(1);
    expect([tries - before, health.status().state]).toEqual([1, "connecting"]);
  };
  return { health, clock, expectPause };
}

test("a host that is away is tried every minute at least, and every ten minutes where it refused the password", async () => {
  for (const [fault, pauses] of [
    [GONE, [1, 2, 4, 8, 16, 32, 60, 60]],
    [REFUSED, [60, 120, 240, 480, 600, 600]],
  ] as const) {
    const { health, expectPause } = openHealth();
    for (const seconds of pauses) {
      health.markDown(fault);
      await expectPause(seconds);
    }
  }
});

test("a host that came back is tried as soon as the first time when it goes away again", async () => {
  const { health, clock, expectPause } = openHealth();
  for (const seconds of [1, 2, 4]) {
    health.markDown(GONE);
    await expectPause(seconds);
  }
  health.markUp();
  expect([health.isUp(), clock.pending()]).toEqual([true, 0]);
  health.markDown(GONE);
  await expectPause(1);
});

test("a refused password is an alarm until the host takes it, or fails in another way", () => {
  const { health } = openHealth();
  health.markDown(REFUSED);
  expect(health.status().alarm).toBe("credentials_refused");
  health.markUp();
  expect(health.status().alarm).toBeUndefined();
  health.markDown(REFUSED);
  health.markDown(GONE);
  expect(health.status().alarm).toBeUndefined();
});

test("a host that is left is not tried again, whatever comes of the last try", async () => {
  const { health, clock } = openHealth();
  health.stop();
  health.markDown(GONE);
  expect([health.status().state, clock.pending()]).toEqual(["stopped", 0]);
});
