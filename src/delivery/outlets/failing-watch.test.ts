import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import {
  bounced,
  deferred,
  email,
  rejected,
  sent,
  sms,
  unconfirmed,
} from "../../../test/progress-samples.ts";
import type { ChannelStatus } from "../../channels/channel.ts";
import type { PartOutcome } from "../../core/messages/outcome.ts";
import { type ChannelTraits, createFailingWatch } from "./failing-watch.ts";

const UP: ChannelStatus = { state: "up", since: 0 };
const DOWN: ChannelStatus = { state: "down", since: 0 };
const MINUTE_MS = 60_000;

interface Given {
  readonly countsAsAttempt?: boolean;
  readonly progress?: ReturnType<typeof sms>;
  readonly isRefusedHere?: boolean;
  /** Instead of a message of its own for each. */
  readonly messageId?: string;
}

/** A connector that is given messages at an even pace, and looked at every five seconds. */
function open(traits: Partial<ChannelTraits> = {}) {
  const clock = createHeldClock();
  const watch = createFailingWatch(clock, { keepsRate: false, reachesMany: false, ...traits });
  let messages = 0;
  let status = UP;
  const look = () => watch.look(status);
  const pass = async (ms: number) => {
    for (let past = 0; past < ms; past += 5_000) {
      await clock.advance(Math.min(5_000, ms - past));
      look();
    }
  };
  const note = (part: PartOutcome, { countsAsAttempt = true, progress = sms(), ...job }: Given = {}) =>
    watch.attempt({ messageId: `m-${messages++}`, progress, ...job }, { parts: [part], countsAsAttempt });
  return {
    watch,
    look,
    pass,
    note,
    isFailing: () => look() !== undefined,
    become: (next: ChannelStatus) => {
      status = next;
      look();
    },
    /** So many a minute, of which each is what `partOf` says. */
    async give(minutes: number, perMinute: number, partOf: (index: number) => PartOutcome, given?: Given) {
      for (let index = 0; index < minutes * perMinute; index++) {
        note(partOf(index), given);
        await pass(MINUTE_MS / perMinute);
      }
    },
  };
}

const all = (part: PartOutcome) => () => part;

test("a connector of which more than half of the attempts fail for five minutes fails, however they do, with the numbers and since when", async () => {
  for (const part of [deferred, rejected, unconfirmed]) {
    const { give, look, isFailing } = open();
    await give(5, 10, (index) => (index % 10 < 6 ? part : sent("x")));
    expect(isFailing()).toBe(false);
    await give(1, 10, all(part));
    const { lastedMs, sent: taken, error, ...failing } = look()!;
    expect(failing).toMatchObject({ deferred: 0, rejected: 0, unconfirmed: 0, [part.kind]: 35 });
    expect([taken, error]).toEqual([20, "error" in part ? part.error : undefined]);
    expect(lastedMs).toBe(6 * MINUTE_MS);
  }
});

test("half of the attempts is not most of them", async () => {
  const { give, isFailing } = open();
  await give(20, 10, (index) => (index % 2 === 0 ? deferred : sent("x")));
  expect(isFailing()).toBe(false);
});

test("a burst of bad recipients and silence after it are no failing, nor is one amid what is taken", async () => {
  const { give, note, pass, isFailing } = open();
  for (let count = 0; count < 1_000; count++) note(rejected);
  await pass(30 * MINUTE_MS);
  expect(isFailing()).toBe(false);
  await give(4, 10, all(rejected));
  await give(2, 10, all(sent("x")));
  await give(4, 10, all(rejected));
  expect(isFailing()).toBe(false);
});

test("with few messages it takes longer: twenty different ones must have failed; a few that are tried again and again do not suffice, unless the provider speaks of itself", async () => {
  const slow = open();
  await slow.give(19, 1, all(rejected));
  expect(slow.isFailing()).toBe(false);
  await slow.give(2, 1, all(rejected));
  expect(slow.isFailing()).toBe(true);
  for (const countsAsAttempt of [true, false]) {
    const few = open();
    for (let attempt = 0; attempt < 300; attempt++) {
      few.note(deferred, { messageId: `tried-again-${attempt % 19}`, countsAsAttempt });
      await few.pass(20_000);
    }
    expect(few.isFailing()).toBe(!countsAsAttempt);
  }
});

test("what fails does so until three quarters of a minute's attempts are taken, so that what hovers comes and goes once", async () => {
  const { give, isFailing } = open();
  await give(7, 12, all(deferred));
  expect(isFailing()).toBe(true);
  await give(5, 12, (index) => (index % 12 < 4 ? deferred : sent("x")));
  expect(isFailing()).toBe(true);
  await give(3, 12, (index) => (index % 12 < 3 ? deferred : sent("x")));
  expect(isFailing()).toBe(false);
});

test("after an hour without a message nothing is known any more", async () => {
  const { give, pass, isFailing } = open();
  await give(6, 10, all(rejected));
  await pass(59 * MINUTE_MS);
  expect(isFailing()).toBe(true);
  await pass(MINUTE_MS);
  expect(isFailing()).toBe(false);
  await give(2, 10, all(rejected));
  expect(isFailing()).toBe(false);
});

test("a connector that is down, or refuses our login, is not failing: other alarms tell; nothing counts meanwhile, and after half a minute nothing from before", async () => {
  for (const away of [DOWN, { ...UP, alarm: "credentials_refused" } as const]) {
    const { give, pass, isFailing, become } = open();
    become(away);
    await give(7, 10, all(deferred));
    become(UP);
    expect(isFailing()).toBe(false);
    await give(6, 10, all(deferred));
    become(away);
    expect(isFailing()).toBe(false);
    await pass(20_000);
    become(UP);
    expect(isFailing()).toBe(true);
    become(away);
    await pass(30_000);
    become(UP);
    expect(isFailing()).toBe(false);
  }
});

test("what says nothing of the connector does not count: a recipient that is refused, our own pace, what it was not asked, one of many hosts, a simulator", async () => {
  const free = { countsAsAttempt: false };
  const toMailbox = { progress: email("ann@example.com") };
  const cases = [
    [{}, bounced, toMailbox],
    [{}, { ...deferred, isOwnPace: true }, {}],
    [{}, { ...deferred, isAnswer: false }, free],
    [{}, rejected, { isRefusedHere: true }],
    [{ keepsRate: true }, deferred, free],
    [{ reachesMany: true }, deferred, toMailbox],
    [{ isSimulated: true }, rejected, {}],
  ] as const;
  for (const [traits, part, given] of cases) {
    const { give, isFailing } = open(traits);
    await give(7, 10, all(part as PartOutcome), given as Given);
    expect(isFailing()).toBe(false);
  }
});

test("a message that is taken but for a part that is put off has not failed; where the rest is refused, it has", async () => {
  for (const part of [deferred, rejected, unconfirmed]) {
    const { watch, pass, isFailing } = open();
    for (let count = 0; count < 42; count++) {
      watch.attempt(
        { messageId: `m-${count}`, progress: sms() },
        { parts: [sent("x"), part], countsAsAttempt: true },
      );
      await pass(10_000);
    }
    expect(isFailing()).toBe(part !== deferred);
  }
});

test("a channel that keeps its rate fails where its provider answers that it takes nothing now, though no attempt counts", async () => {
  const { give, isFailing } = open({ keepsRate: true });
  await give(6, 10, all({ ...deferred, isAnswer: true } as PartOutcome), { countsAsAttempt: false });
  expect(isFailing()).toBe(true);
});

test("the words of a mail server, which may name a recipient, are not told; its code is", async () => {
  const { give, look } = open();
  const progress = email("ann@example.com");
  const error = { code: "4.2.1", message: "ann@example.com is away" };
  await give(6, 10, all({ kind: "deferred", error }), { progress });
  expect(look()?.error).toEqual({ code: "4.2.1", message: "" });
});
