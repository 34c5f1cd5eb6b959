/** What every channel owes the delivery engine. Each implementation runs this suite against a peer of its own. */
import { afterEach, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { Part } from "../core/messages/message.ts";
import type { SendOutcome } from "../core/messages/outcome.ts";
import type { Channel, ChannelStatus, OutgoingMessage } from "./channel.ts";

export interface ChannelFixture {
  /** Not started yet. */
  readonly channel: Channel;
  /** A message goes out whole, and not part by part: then `handed` counts messages. */
  readonly isWhole?: boolean;
  /** Everything `onStatus` was told, in order. */
  readonly statuses: readonly ChannelStatus[];
  /** A new message of exactly two parts. `parts`, where given, are what earlier attempts came to: two, in order. */
  message(parts?: readonly [Part["status"], Part["status"]]): OutgoingMessage;
  /** Resolves when the channel may send. */
  whenUp(): Promise<void>;
  /**
   * What the peer does with the parts it is handed from now on: takes them, puts them off, refuses them for good,
   * or says nothing until `release`.
   */
  behave(as: "accept" | "defer" | "reject" | "silent"): void;
  /** Takes the parts it has been silent about, and what follows. */
  release(): void;
  /** Resolves when the peer has been handed so many parts in all. */
  whenHanded(count: number): Promise<void>;
  /** Parts the peer has been handed so far. */
  handed(): number;
  /** Moves the channel's clock on. */
  elapse(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Every channel waits for an answer for at least this share of the time limit of a send. */
const SLOW_SHARE = 1 / 5;

/** Longest time that `stop` may take once what is under way is called off: a process, which does that after 12 s, has 20 s to end. */
const CLOSE_LIMIT_MS = 8_000;

export function channelContract(name: string, openFixture: () => Promise<ChannelFixture>): void {
  describe(`${name} keeps the channel contract:`, () => {
    let fixture: ChannelFixture;
    afterEach(() => fixture.close());

    const open = async () => {
      fixture = await openFixture();
    };
    const openUp = async () => {
      await open();
      fixture.channel.start();
      await fixture.whenUp();
    };
    const never = new AbortController().signal;
    const send = (message = fixture.message(), signal = never) => fixture.channel.send(message, signal);

    test("there are free slots exactly between start and stop", async () => {
      await open();
      expect(fixture.channel.freeSlots()).toBe(0);
      expect(fixture.channel.status().state).toBe("stopped");
      fixture.channel.start();
      await fixture.whenUp();
      expect(fixture.channel.freeSlots()).toBeGreaterThan(0);
      expect(fixture.channel.status().state).toBe("up");
      await fixture.channel.stop();
      expect(fixture.channel.freeSlots()).toBe(0);
      expect(fixture.channel.status().state).toBe("stopped");
    });

    test("every change of state is told, each once", async () => {
      await openUp();
      await fixture.channel.stop();
      const states = fixture.statuses.map(({ state }) => state);
      expect(states.at(-1)).toBe("stopped");
      expect(states).toContain("up");
      for (let i = 1; i < states.length; i++) expect(states[i]).not.toBe(states[i - 1]);
    });

    test("a message the provider takes is sent, in all its parts", async () => {
      await openUp();
      const outcome = await send();
      expect(kinds(outcome)).toEqual(["sent", "sent"]);
      expect(outcome.countsAsAttempt).toBe(true);
      expect(fixture.handed()).toBe(fixture.isWhole ? 1 : 2);
    });

    test.each([
      ["sent", "pending"],
      ["delivered", "unconfirmed"],
      ["failed", "pending"],
    ] as const)("a part that is %p is not sent again beside one that is %p", async (settled, open_) => {
      await openUp();
      const outcome = await send(fixture.message([settled, open_]));
      expect(kinds(outcome)).toEqual([undefined, "sent"]);
      expect(fixture.handed()).toBe(1);
    });

    test("an attempt that covers some parts sends only those", async () => {
      await openUp();
      const outcome = await send({ ...fixture.message(["pending", "pending"]), only: [1] });
      expect(kinds(outcome)).toEqual([undefined, "sent"]);
      expect(fixture.handed()).toBe(1);
    });

    test("a message with nothing left to send reaches nobody and counts for nothing", async () => {
      await openUp();
      const outcome = await send(fixture.message(["sent", "delivered"]));
      expect(kinds(outcome)).toEqual([undefined, undefined]);
      expect(outcome.countsAsAttempt).toBe(false);
      expect(fixture.handed()).toBe(0);
    });

    test("what the provider puts off is deferred, with a reason", async () => {
      await openUp();
      fixture.behave("defer");
      const outcome = await send();
      expect(kinds(outcome)).toEqual(["deferred", "deferred"]);
      expectReasons(outcome);
    });

    test("what the provider refuses for good is rejected, with a reason", async () => {
      await openUp();
      fixture.behave("reject");
      const outcome = await send();
      expect(kinds(outcome)).toEqual(["rejected", "rejected"]);
      expect(outcome.countsAsAttempt).toBe(true);
      expectReasons(outcome);
    });

    test("a provider that never answers leaves the message unconfirmed within the time limit", async () => {
      await openUp();
      fixture.behave("silent");
      const sending = send();
      await fixture.whenHanded(1);
      await fixture.elapse(fixture.channel.sendTimeoutMs);
      const outcome = await sending;
      expect(kinds(outcome)).toContain("unconfirmed");
      expect(outcome.countsAsAttempt).toBe(true);
      expectReasons(outcome);
    });

    test("on abort the send ends at once and says what it knows", async () => {
      await openUp();
      fixture.behave("silent");
      const controller = new AbortController();
      const sending = send(fixture.message(), controller.signal);
      await fixture.whenHanded(1);
      controller.abort();
      const outcome = await sending;
      expect(kinds(outcome)).toContain("unconfirmed");
      expectReasons(outcome);
    });

    test("messages leave nothing of theirs on the signal, which lives for as long as the process", async () => {
      await openUp();
      const { signal } = new AbortController();
      const listenersAfter = async (behaviour: "accept" | "defer" | "reject") => {
        fixture.behave(behaviour);
        await send(fixture.message(), signal);
        return getEventListeners(signal, "abort").length;
      };
      const first = await listenersAfter("accept");
      expect(first).toBeLessThanOrEqual(1);
      for (const behaviour of ["accept", "defer", "reject"] as const)
        expect([behaviour, await listenersAfter(behaviour)]).toEqual([behaviour, first]);
    });

    test("a send that is aborted before it begins reaches nobody and costs no attempt", async () => {
      await openUp();
      const outcome = await send(fixture.message(), AbortSignal.abort());
      expect(kinds(outcome)).toEqual(["deferred", "deferred"]);
      expect(outcome.countsAsAttempt).toBe(false);
      expect(fixture.handed()).toBe(0);
    });

    test.each(["before the start", "after the stop"])(
      "a send %s is deferred and costs no attempt",
      async (when) => {
        await open();
        if (when === "after the stop") {
          fixture.channel.start();
          await fixture.whenUp();
          await fixture.channel.stop();
        }
        const outcome = await send();
        expect(kinds(outcome)).toEqual(["deferred", "deferred"]);
        expect(outcome.countsAsAttempt).toBe(false);
        expect(fixture.handed()).toBe(0);
      },
    );

    test("a message that another process may have taken over reaches nobody and costs no attempt", async () => {
      await openUp();
      const outcome = await fixture.channel.send(fixture.message(), never, () => false);
      expect(outcome.parts.map((part) => part?.kind)).toEqual(["deferred", "deferred"]);
      expect(outcome.countsAsAttempt).toBe(false);
      expect(fixture.handed()).toBe(0);
    });

    test("stop waits for slow answers under way, as if nothing were to stop", async () => {
      await openUp();
      fixture.behave("silent");
      const sending = send();
      await fixture.whenHanded(1);
      let isStopped = false;
      const stopping = fixture.channel.stop().then(() => {
        isStopped = true;
      });
      expect(fixture.channel.freeSlots()).toBe(0);
      await fixture.elapse(Math.floor(fixture.channel.sendTimeoutMs * SLOW_SHARE));
      expect(isStopped).toBe(false);
      fixture.release();
      expect(kinds(await sending)).toContain("sent");
      await stopping;
    });

    test("stop does not wait for ever", async () => {
      await openUp();
      fixture.behave("silent");
      const sending = send();
      await fixture.whenHanded(1);
      const stopping = fixture.channel.stop();
      await fixture.elapse(fixture.channel.sendTimeoutMs);
      await stopping;
      expect(kinds(await sending)).toContain("unconfirmed");
    });

    test("stop ends soon once what is under way is called off", async () => {
      await openUp();
      fixture.behave("silent");
      const calledOff = new AbortController();
      const sending = send(fixture.message(), calledOff.signal);
      await fixture.whenHanded(1);
      const stopping = fixture.channel.stop();
      calledOff.abort();
      await fixture.elapse(CLOSE_LIMIT_MS);
      await stopping;
      expect(kinds(await sending)).toContain("unconfirmed");
    });

    test("stop may be called twice, and without a start", async () => {
      await open();
      await Promise.all([fixture.channel.stop(), fixture.channel.stop()]);
      expect(fixture.channel.status().state).toBe("stopped");
    });
  });
}

function kinds(outcome: SendOutcome): (string | undefined)[] {
  return outcome.parts.map((part) => part?.kind);
}

function expectReasons(outcome: SendOutcome): void {
  for (const part of outcome.parts) {
    if (part === undefined || part.kind === "sent") continue;
    expect(part.error.code).toMatch(/^[a-z0-9_.]+$/);
    expect(part.error.message.length).toBeGreaterThan(0);
  }
}
