import { describe, expect, test } from "bun:test";
import { never, openSimulator, sms } from "../../../test/fakes/open-simulator.ts";
import type { Part } from "../../core/messages/message.ts";

describe("the channel", () => {
  test("has no slots and takes nothing before it starts and after it stops", async () => {
    const { simulator, statuses, memory } = openSimulator("sms");
    expect(simulator.freeSlots()).toBe(1_000);
    expect(simulator.status().state).toBe("up");
    await simulator.stop();
    expect(simulator.freeSlots()).toBe(0);
    const outcome = await simulator.send(sms("+919812345678"), never);
    expect(outcome).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
    expect(memory.entries()).toEqual([]);
    expect(statuses.map(({ state }) => state)).toEqual(["up", "stopped"]);
  });

  test("leaves no timer behind when it stops", async () => {
    const { simulator, clock } = openSimulator("sms");
    await simulator.send(sms("+919812345678"), never);
    const slow = simulator.send(sms("+15005550006"), never);
    await simulator.stop();
    expect((await slow).parts[0]).toMatchObject({ kind: "deferred", error: { code: "interrupted" } });
    expect(clock.pending()).toBe(0);
  });

  test("says when slots have become free, once for many", async () => {
    const { simulator, slots } = openSimulator("sms");
    const before = slots.told;
    const sent = Array.from({ length: 100 }, () => simulator.send(sms("+919812345678"), never));
    expect(simulator.freeSlots()).toBe(900);
    await Promise.all(sent);
    expect(simulator.freeSlots()).toBe(1_000);
    expect(slots.told - before).toBeGreaterThan(0);
    expect(slots.told - before).toBeLessThan(10);
  });

  test("keeps slots for others when many messages are answered slowly", async () => {
    const { simulator, clock } = openSimulator("sms");
    const slow = Array.from({ length: 400 }, () => simulator.send(sms("+15005550006"), never));
    expect(simulator.freeSlots()).toBe(750);
    expect((await simulator.send(sms("+919812345678"), never)).parts[0]?.kind).toBe("sent");
    await clock.advance(5_000);
    const kinds = (await Promise.all(slow)).map(({ parts }) => parts[0]?.kind);
    expect(kinds.filter((kind) => kind === "sent")).toHaveLength(250);
    expect(kinds.filter((kind) => kind === "deferred")).toHaveLength(150);
    // Once they are answered there is room for others that are answered slowly.
    const next = simulator.send(sms("+15005550006"), never);
    await clock.advance(5_000);
    expect((await next).parts[0]?.kind).toBe("sent");
  });

  test("answers at once when an attempt is broken off", async () => {
    const { simulator, memory, clock } = openSimulator("sms");
    const abort = new AbortController();
    const slow = simulator.send(sms("+15005550006"), abort.signal);
    memory.setFault("hold");
    const writing = simulator.send(sms("+919812345678"), abort.signal);
    await clock.advance(10);
    abort.abort();
    expect((await slow).parts[0]?.kind).toBe("deferred");
    expect((await writing).parts[0]?.kind).toBe("unconfirmed");
    memory.release();
  });

  test("does not send again what is settled", async () => {
    const { simulator, memory } = openSimulator("sms");
    const settled: Part[] = [{ status: "sent", providerMessageId: "earlier" }];
    const outcome = await simulator.send(sms("+919812345678", { parts: settled }), never);
    expect(outcome.parts).toEqual([undefined]);
    expect(memory.entries()).toEqual([]);
  });
});
