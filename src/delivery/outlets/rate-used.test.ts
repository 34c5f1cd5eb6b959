/** Whether the rate of a connector may have been used a moment before it is opened. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { Channel } from "../../channels/channel.ts";
import type { Connector } from "../../core/records/accounts.ts";
import { createOutlets } from "./outlets.ts";

function connector(id: string, change: Partial<Connector> = {}): Connector {
  return { id, name: id, kind: "smpp", config: {}, secrets: {}, isEnabled: true, createdAt: 0, ...change };
}

const CHANNEL = { start() {}, stop: async () => {}, freeSlots: () => 100, status: () => ({ state: "up" }) };

function open() {
  const opened: string[] = [];
  const outlets = createOutlets({
    open({ id }, { isRateUsed }) {
      opened.push(`${id} ${isRateUsed ? "used" : "new"}`);
      return { ...CHANNEL, connectorId: id } as unknown as Channel;
    },
    clock: createHeldClock(),
    log: { isDebug: () => false, debug() {}, info() {}, warn() {}, error() {} },
    onSlots() {},
    hasReceipt: async () => false,
    slotsOf: () => undefined,
  });
  return {
    outlets,
    reconcile(...connectors: readonly Connector[]) {
      outlets.reconcile(connectors);
      return opened.splice(0);
    },
  };
}

test("the rate may have been used of a connector that was there at the start, and of none that was made since", () => {
  const { reconcile } = open();
  expect(reconcile(connector("a"))).toEqual(["a used"]);
  expect(reconcile(connector("a"), connector("b"))).toEqual(["b new"]);
});

test("the rate may have been used of a connector that is opened again, after a change or when it is enabled", () => {
  const { reconcile } = open();
  expect([reconcile(), reconcile(connector("a"))]).toEqual([[], ["a new"]]);
  expect(reconcile(connector("a", { config: { host: "h" } }))).toEqual(["a used"]);
  expect(reconcile(connector("a", { isEnabled: false }))).toEqual([]);
  expect(reconcile(connector("a"))).toEqual(["a used"]);
});

test("what may have been used is waited for, where the delivery engine keeps the rate", () => {
  const { outlets, reconcile } = open();
  const limited = { config: { max_per_second: 5 } };
  reconcile(connector("a", limited));
  reconcile(connector("a", limited), connector("b", limited));
  expect(["a", "b"].map((id) => outlets.get(id)?.available())).toEqual([0, 5]);
});
