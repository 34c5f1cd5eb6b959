import { describe, expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import {
  createMemoryLedger,
  email,
  idOf,
  never,
  openSimulator,
  sms,
} from "../../../test/fakes/open-simulator.ts";

describe("the ledger", () => {
  test("is durable before a message is answered as sent", async () => {
    const { simulator, memory, clock } = openSimulator("sms");
    memory.setFault("hold");
    let isAnswered = false;
    const sent = simulator.send(sms("+919812345678"), never).then(() => {
      isAnswered = true;
    });
    await clock.advance(1_000);
    expect(isAnswered).toBe(false);
    memory.release();
    await sent;
    expect(memory.entries()).toHaveLength(1);
  });

  test("is written once for messages that come together", async () => {
    const { simulator, memory } = openSimulator("sms");
    const outcomes = await Promise.all(
      Array.from({ length: 900 }, (_, i) => simulator.send(sms(`+9198123${10_000 + i}`), never)),
    );
    const ids = new Set(outcomes.map((outcome) => idOf(outcome.parts[0])));
    expect(ids.size).toBe(900);
    expect(memory.writes).toEqual([500, 400]);
  });

  test("that cannot be written defers the message at no cost", async () => {
    const { simulator, memory } = openSimulator("sms");
    memory.setFault("fail");
    expect(await simulator.send(sms("+919812345678"), never)).toMatchObject({
      parts: [{ kind: "deferred", error: { code: "simulator.unavailable" } }],
      countsAsAttempt: false,
    });
    memory.setFault("none");
    expect((await simulator.send(sms("+919812345678"), never)).parts[0]?.kind).toBe("sent");
  });

  test("that never answers leaves the message unconfirmed in time, and those behind it to come again", async () => {
    const { simulator, memory, clock, receipts } = openSimulator("sms");
    memory.setFault("hold");
    const first = simulator.send(sms("+919812345678"), never);
    await clock.advance(1);
    const second = simulator.send(sms("+919812345678"), never);
    await clock.advance(simulator.sendTimeoutMs);
    expect((await first).parts[0]?.kind).toBe("unconfirmed");
    expect((await second).parts[0]?.kind).toBe("deferred");
    // It was written after all: its receipt is told all the same.
    memory.release();
    await clock.advance(0);
    await clock.advance(1_000);
    expect(receipts).toHaveLength(1);
  });

  test("gives back after a crash what was owed before it", async () => {
    const memory = createMemoryLedger();
    const clock = createHeldClock();
    const before = openSimulator("sms", memory, clock);
    const outcome = await before.simulator.send(sms("+15005550001"), never);
    // Nothing more of the first process: it ends before the receipt is due.
    await before.simulator.stop();
    await clock.advance(3_600_000);
    expect(before.receipts).toEqual([]);
    const after = openSimulator("sms", memory, clock);
    await clock.advance(100);
    expect(after.receipts).toMatchObject([
      { providerMessageId: idOf(outcome.parts[0]), status: "undelivered" },
    ]);
    await clock.advance(3_600_000);
    expect(after.receipts).toHaveLength(1);
  });

  test("is shared by two channels, and each tells its own receipts", async () => {
    const memory = createMemoryLedger();
    const clock = createHeldClock();
    const [one, other] = [openSimulator("sms", memory, clock), openSimulator("email", memory, clock)];
    await one.simulator.send(sms("+919812345678"), never);
    await other.simulator.send(email(["ann@example.com"]), never);
    await clock.advance(1_000);
    expect(one.receipts.map(({ connectorId }) => connectorId)).toEqual(["simulator-sms"]);
    expect(other.receipts.map(({ connectorId }) => connectorId)).toEqual(["simulator-email"]);
  });

  test("keeps owing receipts that could not be stored, and they are told later", async () => {
    const { simulator, clock, receipts, storing } = openSimulator("sms");
    storing.fails = true;
    await simulator.send(sms("+919812345678"), never);
    await clock.advance(10_000);
    expect(receipts).toEqual([]);
    storing.fails = false;
    await clock.advance(2_000);
    expect(receipts).toHaveLength(1);
  });

  test("of thousands of receipts is emptied in batches of 500 at the most", async () => {
    const memory = createMemoryLedger();
    const clock = createHeldClock();
    const at = clock.now();
    await memory.ledger.record(
      Array.from({ length: 1_234 }, (_, i) => ({
        id: `entry-${String(i).padStart(5, "0")}`,
        accountId: "account-1",
        messageId: `message-${i}`,
        channel: "sms" as const,
        to: "+919812345678",
        receivedAt: at,
        rendered: {},
        receipt: { at, status: "delivered" as const },
      })),
    );
    const { receipts } = openSimulator("sms", memory, clock);
    await clock.advance(1_000);
    expect(new Set(receipts.map(({ providerMessageId }) => providerMessageId)).size).toBe(1_234);
    expect(receipts).toHaveLength(1_234);
  });
});
