/** A provider reports to any of the processes on one database, whichever of them has sent a message. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { sent, sms } from "../../../test/progress-samples.ts";
import type { Channel } from "../../channels/channel.ts";
import type { TimelineEntry } from "../../core/messages/message.ts";
import type { Connector } from "../../core/records/accounts.ts";
import type { Shares } from "../shares/shares.ts";
import { createOutlets } from "./outlets.ts";
import { byTimeline, createReceiptWatch } from "./receipt-watch.ts";

const CONNECTOR: Connector = {
  id: "c",
  name: "c",
  kind: "http",
  config: {},
  secrets: {},
  isEnabled: true,
  createdAt: 0,
};

/** Of these processes one, which sends a message a second; each receipt comes after a second, to one after the other of them. */
function openOneOf(processes: number, { isAway = false, isReported = true } = {}) {
  const clock = createHeldClock();
  const timelines = new Map<string, Partial<TimelineEntry>[]>();
  const messages = {
    async timeline({ id }: { id: string }) {
      if (isAway) throw new Error("away");
      return timelines.get(id) as TimelineEntry[] | undefined;
    },
  };
  const channel = { connectorId: "c", start() {}, status: () => ({ state: "up", since: 0 }) };
  const outlets = createOutlets({
    open: () => channel as unknown as Channel,
    clock,
    log: { isDebug: () => false, debug() {}, info() {}, warn() {}, error() {} },
    onSlots() {},
    slotsOf: () => undefined,
    hasReceipt: byTimeline(messages),
    ...(processes > 1 && { shares: {} as Shares }),
  });
  outlets.reconcile([CONNECTOR]);
  const outlet = outlets.get("c");
  return async (count: number) => {
    for (let index = 0; index < count; index++) {
      const id = `m-${index}`;
      outlet?.noteAttempt({ messageId: id, progress: sms() }, { parts: [sent(id)], countsAsAttempt: true });
      timelines.set(id, [{ kind: "attempt" }]);
      await clock.advance(1_000);
      const isHere = index % processes === 0;
      const messageId = isHere ? id : `of another process ${index}`;
      if (isReported || index === 0) {
        timelines.set(id, [{ kind: "attempt" }, { kind: "receipt" }]);
        outlet?.noteReceipt({ providerMessageId: messageId, messageId });
      }
      outlet?.health();
    }
    await clock.advance(61_000);
    outlet?.health();
    await clock.advance(0);
    return outlet?.health();
  };
}

test("receipts that come in time to other processes are in time", async () => {
  expect(await openOneOf(3)(300)).toEqual({ score: 1, problems: [] });
});

test("receipts that come to no process are missed, however many there are", async () => {
  for (const processes of [1, 3])
    expect(await openOneOf(processes, { isReported: false })(300)).toMatchObject({
      problems: ["slow_receipts"],
    });
});

test("while the database is away, nothing is known of receipts that have not come here", async () => {
  expect(await openOneOf(3, { isAway: true })(300)).toEqual({ score: 1, problems: [] });
});

test("messages that were sent together are looked up one after the other, since others wait for the database too", async () => {
  const clock = createHeldClock();
  const asked: ((isThere: boolean) => void)[] = [];
  const watch = createReceiptWatch(clock, () => new Promise((resolve) => asked.push(resolve)));
  for (let index = 0; index < 300; index++)
    watch.sent({ messageId: `m-${index}`, providerMessageIds: [`${index}`] });
  await clock.advance(61_000);
  watch.value();
  for (let answered = 0; answered < 300; answered++) {
    await clock.advance(0);
    expect(asked).toHaveLength(answered + 1);
    asked[answered]?.(answered === 0);
  }
  await clock.advance(0);
  expect(watch.value()).toBeLessThan(0.1);
});
