import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { Channel, ChannelStatus, OutgoingMessage } from "../../channels/channel.ts";
import { createHealth } from "./health.ts";
import { createLargeLimit } from "./large-limit.ts";
import { createOutlet } from "./outlet.ts";
import { createThrottle } from "./throttle.ts";

function openOutlet(status: Pick<ChannelStatus, "state" | "since">) {
  const clock = createHeldClock();
  const outlet = createOutlet({ freeSlots: () => 5, status: () => status } as unknown as Channel, {
    clock,
    throttle: createThrottle(clock, 100),
    health: createHealth(clock, { keepsRate: false, reachesMany: false }),
    largeLimit: createLargeLimit(clock, 1),
    onSlots() {},
    isElsewhere: () => false,
  });
  return { outlet, clock };
}

test("a message that is handed over takes its reserved slot with it: from then on the channel counts it", () => {
  const { outlet } = openOutlet({ state: "up", since: 0 });
  outlet.reserve(2);
  expect(outlet.available()).toBe(3);
  outlet.handOver({ channel: "sms", text: "hello" } as unknown as OutgoingMessage);
  expect(outlet.available()).toBe(4);
});

test("an outlet tells for how long it has been down, since that was noticed", async () => {
  const { outlet, clock } = openOutlet({ state: "connecting", since: 0 });
  await clock.advance(1_000);
  expect(outlet.downMs()).toBe(0);
  await clock.advance(5_000);
  expect(outlet.downMs()).toBe(5_000);
});

test("the slot of a message whose segments a bug keeps from being counted is given back once, and not twice", () => {
  const { outlet } = openOutlet({ state: "up", since: 0 });
  outlet.reserve(1);
  const broken = { channel: "sms", text: null } as unknown as OutgoingMessage;
  expect(() => outlet.handOver(broken)).toThrow();
  expect(outlet.available()).toBe(4);
  // As an attempt does with what was not handed over.
  outlet.unreserve(1);
  expect(outlet.available()).toBe(5);
});
