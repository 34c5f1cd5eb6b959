import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { Channel } from "../../channels/channel.ts";
import { inquire } from "./overdue-receipts.ts";

/** Two channels that can be asked, the second of them down. A question is answered when it is given up, or not at all. */
function open() {
  const clock = createHeldClock();
  const asked: string[] = [];
  const taken: string[] = [];
  const breakOffs: AbortSignal[] = [];
  const channelOf = (connectorId: string, state: string) =>
    ({
      connectorId,
      status: () => ({ state, since: 0 }),
      query(_: unknown, signal: AbortSignal) {
        asked.push(connectorId);
        breakOffs.push(signal);
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve([])));
      },
    }) as unknown as Channel;
  const stopping = new AbortController();
  const done = inquire(
    {
      receipts: {
        async takeQuestions({ connectorId }) {
          taken.push(connectorId);
          return [{ providerMessageId: "x" }] as never;
        },
        record: async () => [],
      },
      channels: () => [channelOf("up", "up"), channelOf("down", "down")],
      clock,
      log: { warn() {} },
    },
    stopping.signal,
  );
  return { clock, asked, taken, done, stop: () => stopping.abort() };
}

test("a provider is asked every ten seconds while its connector is up, and given up after a minute", async () => {
  const { clock, asked, taken, done, stop } = open();
  await clock.advance(10_000);
  expect([asked, taken]).toEqual([["up"], ["up"]]);
  await clock.advance(59_999);
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  await clock.advance(10_000);
  expect(asked).toHaveLength(2);
  stop();
  await done;
});

test("a stop breaks a question off, takes no other, and leaves no timer", async () => {
  const { clock, asked, taken, done, stop } = open();
  await clock.advance(10_000);
  stop();
  await done;
  expect([asked.length, taken.length, clock.pending()]).toEqual([1, 1, 0]);
  const idle = open();
  await idle.clock.advance(0);
  idle.stop();
  await idle.done;
  expect([idle.taken, idle.clock.pending()]).toEqual([[], 0]);
});
