import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import { createHostHealth } from "./host-health.ts";

const GONE = { code: "smtp.connect", message: "gone" };
const REFUSED = { code: "smtp.auth", message: "535 no" };

interface Try {
  readonly signal: AbortSignal;
  /** Ends the try; without a fault the host is up. */
  readonly end: (fault?: MessageError) => void;
}

/** A host whose tries the test ends; its pauses are three quarters of the longest they may be. */
function openHealth() {
  const clock = createHeldClock();
  const tries: Try[] = [];
  const told: string[] = [];
  const health = createHostHealth({
    clock,
    random: () => 0.5,
    probe: (signal) => new Promise((end) => tries.push({ signal, end })),
    onUp: () => told.push("is of use"),
    onStatus: ({ state }) => told.push(state),
    reasonOf: ({ message }) => message,
  });
  health.start();
  const endTry = async (fault?: MessageError) => {
    tries.at(-1)?.end(fault);
    await clock.advance(0);
  };
  const expectPause = async (seconds: number) => {
    const before = tries.length;
    await clock.advance(seconds * 750 - 1);
    expect([tries.length - before, health.status().state]).toEqual([0, "down"]);
    await clock.advance(1);
    expect([tries.length - before, health.status().state]).toEqual([1, "connecting"]);
  };
  return { health, clock, tries, told, endTry, expectPause };
}

test("a host that is away is tried every minute at least, and every ten minutes where it refused the password", async () => {
  for (const [fault, pauses] of [
    [GONE, [1, 2, 4, 8, 16, 32, 60, 60]],
    [REFUSED, [60, 120, 240, 480, 600, 600]],
  ] as const) {
    const { endTry, expectPause } = openHealth();
    for (const seconds of pauses) {
      await endTry(fault);
      await expectPause(seconds);
    }
  }
});

test("a host that came back is tried as soon as the first time when it goes away again", async () => {
  const { health, clock, endTry, expectPause } = openHealth();
  for (const seconds of [1, 2, 4]) {
    await endTry(GONE);
    await expectPause(seconds);
  }
  await endTry();
  expect([health.isUp(), clock.pending()]).toEqual([true, 0]);
  health.markDown(GONE);
  await expectPause(1);
});

test("a host is said to be up before its slots are used, and each change of its state is told once", async () => {
  const { health, told, endTry, expectPause } = openHealth();
  await endTry(GONE);
  await expectPause(1);
  await endTry();
  health.markDown(GONE);
  await health.stop();
  expect(told).toEqual(["connecting", "down", "connecting", "up", "is of use", "down", "stopped"]);
});

test("the messages that fail with their host count as one failure, and none counts while it is tried", async () => {
  const { health, tries, endTry, expectPause } = openHealth();
  health.markDown(GONE);
  expect([tries.length, health.status().state]).toEqual([1, "connecting"]);
  await endTry();
  for (let message = 0; message < 5; message++) health.markDown(GONE);
  await expectPause(1);
  health.markDown(REFUSED);
  await endTry(GONE);
  await expectPause(2);
});

test("a refused password is an alarm until the host takes it, or fails in another way", async () => {
  const { health, clock, endTry, expectPause } = openHealth();
  await endTry(REFUSED);
  expect(health.status().alarm).toBe("credentials_refused");
  await expectPause(60);
  expect(health.status().alarm).toBe("credentials_refused");
  await endTry();
  expect(health.status().alarm).toBeUndefined();
  health.markDown(REFUSED);
  await clock.advance(60_000);
  await endTry(GONE);
  expect(health.status()).toMatchObject({ state: "down", reason: "gone" });
  expect(health.status().alarm).toBeUndefined();
});

test("stopping calls off the try and waits for its end, whatever comes of it, and the host is not tried again", async () => {
  for (const fault of [GONE, undefined]) {
    const { health, clock, tries, told, endTry } = openHealth();
    let hasStopped = false;
    const stopping = health.stop().then(() => {
      hasStopped = true;
    });
    await clock.advance(0);
    expect([tries[0]?.signal.aborted, hasStopped]).toEqual([true, false]);
    await endTry(fault);
    await stopping;
    health.markDown(GONE);
    expect([health.status().state, clock.pending(), tries.length]).toEqual(["stopped", 0, 1]);
    expect(told).toEqual(["connecting", "stopped"]);
  }
});

test("a host that is left while it rests is not tried again", async () => {
  const { health, clock, endTry } = openHealth();
  await endTry(GONE);
  await health.stop();
  expect([health.status().state, clock.pending()]).toEqual(["stopped", 0]);
});
