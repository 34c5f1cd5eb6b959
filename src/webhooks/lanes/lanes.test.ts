import { expect, test } from "bun:test";
import { createHeldClock, type HeldClock } from "../../../test/fakes/held-clock.ts";
import type { Lane } from "../../core/webhooks/webhook-outbox.ts";
import type { HostHealth } from "../judge.ts";
import { createLanes, type Lanes, type LanesDeps, type Permit } from "./lanes.ts";

const HEALTHY: HostHealth = { kind: "healthy" };
const TIMEOUT: HostHealth = { kind: "failing", reason: "timeout" };
const ANSWERING: HostHealth = { kind: "answering" };
const NOT_FOUND: HostHealth = { kind: "failing", reason: "status 404", isThere: true, mayBeOfUrl: true };
const lane = (accountId: string, host: string): Lane => ({ accountId, host });

function open(deps: Partial<LanesDeps> = {}): { lanes: Lanes; clock: HeldClock; wakes: () => number } {
  const clock = createHeldClock();
  let wakes = 0;
  const lanes = createLanes({ clock, random: () => 0.5, onRoom: () => wakes++, ...deps });
  return { lanes, clock, wakes: () => wakes };
}

/** One delivery after the other. */
function deliver(lanes: Lanes, to: Lane, { sign = HEALTHY, ms = 5, times = 1 } = {}): void {
  for (let i = 0; i < times; i++) lanes.acquire(to)?.release(sign, ms);
}

/** As many as there is room for. */
function fill(lanes: Lanes, to: Lane): Permit[] {
  const permits: Permit[] = [];
  for (let permit = lanes.acquire(to); permit; permit = lanes.acquire(to)) permits.push(permit);
  return permits;
}

test("a new lane begins with one delivery, and widens with every success", () => {
  const { lanes } = open();
  const host = lane("a", "h");
  expect(fill(lanes, host)).toHaveLength(1);
  const other = lane("a", "g");
  deliver(lanes, other, { times: 10 });
  expect(lanes.room(other)).toBe(11);
  deliver(lanes, other, { times: 100 });
  expect(fill(lanes, other)).toHaveLength(64);
  expect(lanes.room(other)).toBe(0);
});

test("a lane that fails narrows to one, a slow one that succeeds keeps eight", () => {
  const { lanes } = open();
  const host = lane("a", "h");
  deliver(lanes, host, { times: 100 });
  deliver(lanes, host, { sign: TIMEOUT, ms: 15_000, times: 9 });
  expect(lanes.room(host)).toBe(1);
  deliver(lanes, host, { ms: 3_000, times: 100 });
  expect(lanes.room(host)).toBe(8);
});

test("one delivery of two seconds leaves a quick lane quick, and one that times out does not", () => {
  const { lanes } = open();
  const host = lane("a", "h");
  deliver(lanes, host, { times: 30 });
  deliver(lanes, host, { ms: 2_000 });
  expect(lanes.room(host)).toBe(32);
  deliver(lanes, host, { ms: 15_000 });
  expect(lanes.room(host)).toBe(16);
});

test("whoever waits is told when there is room, and when a pause is over", async () => {
  const { lanes, clock, wakes } = open();
  const host = lane("a", "h");
  deliver(lanes, host);
  expect(wakes()).toBe(1);
  deliver(lanes, host, { sign: { ...TIMEOUT, retryAfterMs: 20_000 } });
  expect([wakes(), lanes.room(host)]).toEqual([2, 0]);
  await clock.advance(20_000);
  expect([wakes(), lanes.room(host)]).toEqual([3, 1]);
});

test("a paused lane is shown with its reason, tried once after the pause, and forgotten when it is well", async () => {
  const told: unknown[] = [];
  const { lanes, clock, wakes } = open({ onPaused: (paused) => told.push(paused) });
  const host = lane("a", "h");
  for (let i = 0; i < 10; i++) {
    deliver(lanes, host, { sign: TIMEOUT });
    await clock.advance(4_000);
  }
  const paused = { accountId: "a", host: "h", until: clock.now() + 6_000, failures: 10, reason: "timeout" };
  expect([lanes.paused(), told]).toEqual([[paused], [paused]]);
  expect([lanes.room(host), wakes()]).toEqual([0, 10]);
  await clock.advance(5_999);
  expect(wakes()).toBe(10);
  await clock.advance(1);
  expect(wakes()).toBe(11);
  // It fails again, and the pause goes on for twice as long, without another word.
  deliver(lanes, host, { sign: TIMEOUT });
  expect(told).toHaveLength(1);
  await clock.advance(20_000);
  expect(wakes()).toBe(13);
  const [probe, ...others] = fill(lanes, host);
  expect(others).toEqual([]);
  probe?.release(HEALTHY, 5);
  expect(lanes.paused()).toEqual([]);
  expect(lanes.room(host)).toBeGreaterThan(0);
});

test("a lane whose pause is over is shown while it is tried, and no longer once there is nothing to try", async () => {
  const { lanes, clock } = open();
  const host = lane("a", "h");
  deliver(lanes, host, { sign: { ...TIMEOUT, retryAfterMs: 20_000 } });
  await clock.advance(19_999);
  expect(lanes.paused()).toHaveLength(1);
  await clock.advance(1);
  expect(lanes.paused()).toEqual([]);
  const [trial, ...others] = fill(lanes, host);
  expect(others).toEqual([]);
  expect(lanes.paused()).toMatchObject([{ host: "h", until: clock.now(), failures: 1 }]);
  trial?.release(ANSWERING, 5);
  expect(lanes.paused()).toEqual([]);
});

test("a URL that fails pauses its host only if that takes nothing for others", async () => {
  const { lanes, clock } = open();
  const to = (host: string, path: string, health: HostHealth) =>
    lanes.acquire(lane("a", host))?.release(health, 5, path);
  for (let i = 0; i < 100; i++) {
    for (const host of ["well", "down"]) to(host, "/off", NOT_FOUND);
    if (i === 2) to("well", "/on", HEALTHY);
    await clock.advance(4_000);
  }
  expect(lanes.paused().map(({ host }) => host)).toEqual(["down"]);
  expect(lanes.room(lane("a", "well"))).toBeGreaterThan(10);
});

test("a URL that answers with errors of the server narrows its host, though it does not pause it", async () => {
  const { lanes, clock } = open();
  const host = lane("a", "h");
  const error: HostHealth = { ...NOT_FOUND, reason: "status 500", isServerError: true };
  for (let i = 0; i < 100; i++) {
    lanes.acquire(host)?.release(error, 5, "/busy");
    if (i === 2) lanes.acquire(host)?.release(HEALTHY, 5, "/idle");
    await clock.advance(4_000);
  }
  expect([lanes.paused(), lanes.room(host)]).toEqual([[], 1]);
});

test("while a host is paused, every failure counts, and its next try rather avoids the URLs that have failed", async () => {
  const { lanes, clock } = open();
  const host = lane("a", "h");
  const to = (path: string, health: HostHealth) => lanes.acquire(host)?.release(health, 5, path);
  for (let i = 0; i < 3; i++) to("/off", NOT_FOUND);
  await clock.advance(1);
  to("/on", HEALTHY);
  const before = lanes.acquire(host);
  expect(before?.avoids).toBeUndefined();
  before?.release({ kind: "unknown" }, 0);
  for (let i = 0; i < 10; i++) {
    to("/on", TIMEOUT);
    await clock.advance(4_000);
  }
  const [paused] = lanes.paused();
  await clock.advance((paused?.until ?? 0) - clock.now());
  const permit = lanes.acquire(host);
  expect(["/off", "/on"].map((url) => permit?.avoids?.(url))).toEqual([true, false]);
  permit?.release(NOT_FOUND, 5, "/off");
  expect(lanes.room(host)).toBe(0);
  expect(lanes.paused()).toHaveLength(1);
});

test("the end of a pause is told in whole milliseconds", async () => {
  const { lanes, clock } = open({ random: () => 1 / 3 });
  const host = lane("a", "h");
  while (lanes.paused().length === 0) {
    deliver(lanes, host, { sign: TIMEOUT });
    await clock.advance(4_000);
  }
  const [paused] = lanes.paused();
  expect(Number.isInteger(paused?.until)).toBe(true);
});

test("a host paused for one account is not paused for another, nor another host of the same account", async () => {
  const { lanes, clock } = open();
  for (let i = 0; i < 10; i++) {
    deliver(lanes, lane("a", "h"), { sign: TIMEOUT });
    await clock.advance(4_000);
  }
  expect([lane("a", "h"), lane("b", "h"), lane("a", "g")].map(lanes.room)).toEqual([0, 1, 1]);
});

test.each(["a", "b"])(
  "a thousand hosts of an account that time out never take the room of a healthy host of account %p",
  async (accountId) => {
    const { lanes, clock } = open();
    const healthy = lane(accountId, "healthy");
    const dead = Array.from({ length: 1_000 }, (_, i) => lane("a", `dead-${i}`));
    let tries = 0;
    for (let step = 0; step < 600; step++) {
      for (const host of dead) {
        for (const permit of fill(lanes, host)) {
          tries++;
          clock.after(15_000, () => permit.release(TIMEOUT, 15_000));
        }
      }
      expect(lanes.room(healthy)).toBeGreaterThan(0);
      // Now and then a bad second of its own.
      deliver(lanes, healthy, { ms: step % 20 === 0 ? 2_000 : 5 });
      await clock.advance(500);
    }
    // They were tried all the while, and paused in the end.
    expect(tries).toBeGreaterThan(5_000);
    expect(lanes.paused()).toHaveLength(1_000);
  },
);

test("an account with hosts without end leaves room for others, and what is under way has a limit", () => {
  const { lanes } = open();
  for (let i = 0; i < 5_000; i++) fill(lanes, lane("greedy", `host-${i}`));
  const taken = lanes.underWay();
  expect(taken).toBeLessThan(1_536);
  for (let i = 0; i < 100; i++) expect(lanes.acquire(lane("other", `host-${i}`))).toBeDefined();
  for (let account = 0; account < 5_000; account++) lanes.acquire(lane(`account-${account}`, "h"));
  expect(lanes.underWay()).toBeLessThanOrEqual(1_536);
});

test.each([HEALTHY, TIMEOUT])(
  "slow hosts take no room from new and quick ones of the same account, whatever other accounts have: %p",
  (sign) => {
    const { lanes } = open();
    const accounts = ["a", "b", "c"];
    for (const account of accounts) deliver(lanes, lane(account, "quick"), { times: 10 });
    const slow = accounts.flatMap((account) =>
      Array.from({ length: 1_000 }, (_, i) => lane(account, `slow-${i}`)),
    );
    for (const host of slow) deliver(lanes, host, { sign, ms: 8_000 });
    for (const host of slow) fill(lanes, host);
    expect(slow.every((host) => lanes.room(host) === 0)).toBe(true);
    for (const account of accounts) {
      expect(lanes.room(lane(account, "quick"))).toBe(11);
      for (let i = 0; i < 20; i++) expect(lanes.acquire(lane(account, `new-${i}`))).toBeDefined();
    }
  },
);

test.each([HEALTHY, ANSWERING])(
  "hosts that time out take no room from slow ones of the same account that answer: %p",
  (sign) => {
    const { lanes } = open();
    const hosts = (name: string) => Array.from({ length: 2_000 }, (_, i) => lane("a", `${name}-${i}`));
    const [dead, slow] = [hosts("dead"), hosts("slow")];
    for (const host of dead) deliver(lanes, host, { sign: TIMEOUT, ms: 15_000 });
    for (const host of dead) fill(lanes, host);
    expect(dead.every((host) => lanes.room(host) === 0)).toBe(true);
    // Four fifths of the 1,024 for hosts that fail.
    expect(lanes.underWay()).toBe(819);
    for (const host of slow) deliver(lanes, host, { sign, ms: 8_000 });
    expect(lanes.room(slow[0]!)).toBeGreaterThan(0);
  },
);

test("proven hosts keep a quarter of all room, however many others are tried", () => {
  const { lanes } = open();
  const proven = Array.from({ length: 10 }, (_, i) => lane("good", `proven-${i}`));
  for (const host of proven) deliver(lanes, host, { times: 100 });
  for (let account = 0; account < 5_000; account++) lanes.acquire(lane(`account-${account}`, "h"));
  expect(proven.map((host) => fill(lanes, host).length).reduce((sum, each) => sum + each)).toBeGreaterThan(
    400,
  );
});

test("lanes beyond the limit are forgotten, the one unused for longest first, and none that is in use", async () => {
  const { lanes, clock } = open({ maxLanes: 3 });
  const busy = lanes.acquire(lane("a", "busy"));
  deliver(lanes, lane("a", "asked for time"), { sign: { ...TIMEOUT, retryAfterMs: 60_000 } });
  deliver(lanes, lane("a", "x"), { times: 5 });
  expect(clock.pending()).toBe(1);
  deliver(lanes, lane("a", "y"));
  expect([lanes.paused(), clock.pending()]).toEqual([[], 0]);
  expect([lanes.room(lane("a", "busy")), lanes.room(lane("a", "x"))]).toEqual([0, 6]);
  busy?.release(HEALTHY, 5);
  expect(lanes.room(lane("a", "busy"))).toBe(2);
});

test("every slot comes back", () => {
  const { lanes } = open();
  const permits = Array.from({ length: 3_000 }, (_, i) => fill(lanes, lane(`a${i % 50}`, `h${i}`))).flat();
  expect(lanes.underWay()).toBe(permits.length);
  permits.forEach((permit, i) => {
    permit.release(
      [HEALTHY, TIMEOUT, { kind: "unknown" } as const][i % 3] ?? HEALTHY,
      i % 2 === 0 ? 5 : 5_000,
    );
  });
  expect(lanes.underWay()).toBe(0);
});
