import { afterEach, expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { closeSmppRigs, openSmppRig, sendThrough } from "../../../../../test/fakes/smpp-rig.ts";
import { createCredentialGate } from "./credential-gate.ts";
import { keepBound, type LinkDeps } from "./keep-bound.ts";
import { createRivals } from "./rivals.ts";
import type { Session } from "./session.ts";

afterEach(closeSmppRigs);

const HOLD_MS = 5 * 60_000;

test("where an SMSC ends a session as soon as another is bound, the binds do not go on ending each other", async () => {
  const { channel, smsc, clock, logs, until } = await openSmppRig({
    dial: { sessions: 1 },
    config: { binds: 2, enquire_link_ms: 600_000 },
  });
  /** Resolves when a session has been ended so many times, and that is known. */
  const ended = (times: number) =>
    until(() => logs.filter(({ text }) => text === "SMPP binds are missing").length === times);
  channel.start();
  await ended(1);
  await clock.advance(1_000);
  await ended(2);
  await clock.advance(1_000);
  await ended(3);
  await clock.advance(2_000);
  await ended(4);
  expect(smsc.binds.length).toBe(4);
  expect(channel.status()).toMatchObject({ state: "up", binds: { up: 1, of: 2 } });
  const reason = expect.stringContaining("it may allow fewer than `binds`");
  expect(channel.status().reason).toEqual(reason);
  expect(logs.at(-1)).toMatchObject({ text: "SMPP binds are missing", fields: { reason } });
  await clock.advance(HOLD_MS - 2_000);
  expect(smsc.binds.length).toBe(4);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  // Later it may allow both.
  delete smsc.dial.sessions;
  await clock.advance(2_000);
  await until(() => channel.status().binds!.up === 2);
});

function openBinds() {
  const clock = createHeldClock();
  const rivals = createRivals(clock);
  const [one, other] = [{ name: "one" }, { name: "other" }];
  /** `bind` is accepted, and right after that `ended` ends; resolves with how long that is to wait. */
  const ends = (bind: object, ended: object) => {
    rivals.passed(bind);
    rivals.left(ended, true);
    return () => rivals.holdMs(ended);
  };
  return { clock, rivals, one, other, ends };
}

test("a bind waits from the third time on that another has ended it", () => {
  const { rivals, one, other, ends } = openBinds();
  rivals.passed(one);
  expect(ends(other, one)()).toBe(0);
  expect(ends(one, other)()).toBe(0);
  expect(ends(other, one)()).toBe(HOLD_MS);
  expect(rivals.holdMs(one)).toBe(0);
  expect(ends(one, other)()).toBe(HOLD_MS);
});

test("sessions that we give up ourselves, soon after others were bound again, are no sign that those ended them", async () => {
  const clock = createHeldClock();
  const rivals = createRivals(clock);
  const gate = createCredentialGate(clock);
  const openBind = () => {
    const given: Parameters<LinkDeps["open"]>[0][] = [];
    const open: LinkDeps["open"] = (events) => {
      given.push(events);
      events.onBound({} as Session);
      return {} as Session;
    };
    const more = { random: () => 1, onStatus() {}, nobodyWaits: async () => {} };
    const link = keepBound({ clock, rivals, gate, open, ...more });
    link.start();
    const end = { reason: "no answers", isCredentialFault: false };
    return { link, giveUp: () => given.at(-1)?.onEnd({ ...end, wasLeft: true }) };
  };
  const binds = [openBind(), openBind(), openBind()];
  for (let round = 0; round < 4; round++) {
    await clock.advance(60_000);
    for (const { link, giveUp } of round % 2 === 0 ? binds : binds.toReversed()) {
      giveUp();
      await clock.advance(1_000);
      expect(link.status()).toEqual({ state: "up" });
    }
  }
});

test("a bind does not wait where the other one has ended as well, since the SMSC was away", () => {
  const { rivals, one, other, ends } = openBinds();
  rivals.passed(one);
  for (let time = 0; time < 5; time++) {
    const holdMs = ends(other, one);
    rivals.left(other, true);
    expect(holdMs()).toBe(0);
    expect(rivals.holdMs(other)).toBe(0);
    rivals.passed(one);
  }
});

test("a bind does not wait where it ended long after the other was accepted, or because we left it", async () => {
  const { clock, rivals, one, other } = openBinds();
  rivals.passed(one);
  for (let time = 0; time < 5; time++) {
    rivals.passed(other);
    rivals.left(one, false);
    expect(rivals.holdMs(one)).toBe(0);
    rivals.passed(one);
    await clock.advance(3_001);
    rivals.left(other, true);
    expect(rivals.holdMs(other)).toBe(0);
  }
});

test("a bind that has ended nobody begins the count anew", () => {
  const { rivals, one, other, ends } = openBinds();
  rivals.passed(one);
  ends(other, one)();
  ends(one, other)();
  rivals.passed(other);
  rivals.passed({ name: "third" });
  expect(ends(one, other)()).toBe(0);
});

test("no bind waits where an SMSC ends many while the first of them is bound again, as when one of several servers goes", () => {
  const { rivals } = openBinds();
  const [first = {}, ...others] = Array.from({ length: 10 }, (_, index) => ({ index }));
  for (const bind of [first, ...others]) rivals.passed(bind);
  rivals.left(first, true);
  rivals.passed(first);
  for (const bind of others) rivals.left(bind, true);
  expect(others.map((bind) => rivals.holdMs(bind))).toEqual(others.map(() => 0));
});

test("no bind waits where an SMSC ends each once, one after the other", () => {
  const { rivals, ends } = openBinds();
  const binds = Array.from({ length: 10 }, (_, index) => ({ index }));
  for (const bind of binds) rivals.passed(bind);
  const holds = binds.map((bind, index) => ends(binds.at(index - 1)!, bind)());
  expect(holds).toEqual(binds.map(() => 0));
});

test("where two binds are too many, two wait", () => {
  const { rivals } = openBinds();
  const [a, b, c, d] = [{}, {}, {}, {}];
  const taken = (binds: readonly object[], ended: readonly object[]) => {
    for (const bind of binds) rivals.passed(bind);
    for (const bind of ended) rivals.left(bind, true);
    return ended.map((bind) => rivals.holdMs(bind));
  };
  taken([a, b], []);
  expect(taken([c, d], [a, b])).toEqual([0, 0]);
  expect(taken([a, b], [c, d])).toEqual([0, 0]);
  expect(taken([c, d], [a, b])).toEqual([HOLD_MS, HOLD_MS]);
});

test("a bind does not wait that ended another when it came back, and long after is ended by another", async () => {
  const { clock, rivals, one, other, ends } = openBinds();
  rivals.passed(one);
  ends(other, one)();
  ends(one, other)();
  await clock.advance(2 * HOLD_MS + 1);
  expect(ends(other, one)()).toBe(0);
});
