import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { Channel, OutgoingMessage } from "../../channels/channel.ts";
import { createHealth } from "./health.ts";
import { createLargeLimit } from "./large-limit.ts";
import { createOutlet } from "./outlet.ts";
import { createThrottle } from "./throttle.ts";

test("the slot of a message whose segments a bug keeps from being counted is given back once, and not twice", () => {
  const clock = createHeldClock();
  const channel = { freeSlots: () => 5, status: () => ({ state: "up", since: 0 }) } as unknown as Channel;
  const outlet = createOutlet(channel, {
    clock,
    throttle: createThrottle(clock, 100),
    health: createHealth(clock, { keepsRate: false, reachesMany: false }),
    largeLimit: createLargeLimit(clock, 1),
    onSlots() {},
    isOpening: () => false,
    isElsewhere: () => false,
  });
  outlet.reserve(1);
  const broken = { channel: "sms", text: null } as unknown as OutgoingMessage;
  expect(() => outlet.handOver(broken)).toThrow();
  expect(outlet.available()).toBe(4);
  // As an attempt does with what was not handed over.
  outlet.unreserve(1);
  expect(outlet.available()).toBe(5);
});
