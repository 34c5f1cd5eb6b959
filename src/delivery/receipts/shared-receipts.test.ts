import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import type { ReceiptGroups } from "../../core/receipts/receipt-groups.ts";
import { type SharedReceiptsDeps, shareReceipts } from "./shared-receipts.ts";

/** Parked receipts of connector `a`, which shares them with `b`; those whose id begins with `known` find their message. */
function open(count: number) {
  const clock = createHeldClock();
  let groups: ReceiptGroups = new Map([["a", ["b"]]]);
  const parked = Array.from({ length: count }, (_, index) => {
    const receipt = { connectorId: "a", providerMessageId: `id-${index}`, receivedAt: clock.now() };
    return { id: String(index).padStart(6, "0"), receipt: receipt as unknown as Receipt };
  });
  const tried: string[] = [];
  const recent: string[] = [];
  const matched: string[] = [];
  const deps = {
    receipts: {
      parked: async ({ limit, after = "" }: { limit: number; after?: string }) =>
        parked.filter(({ id }) => id > after).slice(0, limit),
      async record(receipts: readonly Receipt[]) {
        tried.push(...receipts.map(({ providerMessageId }) => providerMessageId));
        recent.push(...receipts.filter(({ isRecent }) => isRecent).map((each) => each.providerMessageId));
        return receipts.map(({ providerMessageId }) =>
          providerMessageId.startsWith("known") ? { kind: "applied", messageId: "m" } : { kind: "parked" },
        );
      },
    },
    groups: () => groups,
    onMatched: (receipts: readonly Receipt[], results: readonly { readonly messageId?: string }[]) =>
      void matched.push(
        ...receipts.map(({ providerMessageId }, at) => `${providerMessageId} ${results[at]?.messageId}`),
      ),
    clock,
    log: { warn() {} },
  };
  const stopping = new AbortController();
  void shareReceipts(deps as unknown as SharedReceiptsDeps, stopping.signal);
  return {
    clock,
    matched,
    parked,
    tried,
    recent,
    changeConnectors: () => {
      groups = new Map([["a", ["b"]]]);
    },
    stop: () => stopping.abort(),
  };
}

test("all that is parked is tried each second for two minutes, and after that when the connectors change", async () => {
  const { clock, parked, tried, changeConnectors, stop } = open(450);
  await clock.advance(0);
  expect(new Set(tried).size).toBe(450);
  await clock.advance(120_000);
  expect(tried.length).toBeGreaterThan(450 * 119);
  await clock.advance(5_000);
  tried.length = 0;
  parked.push({ id: "999999", receipt: { ...parked[0]?.receipt, providerMessageId: "new" } as Receipt });
  await clock.advance(2_000);
  expect(new Set(tried)).toEqual(new Set(["new"]));
  changeConnectors();
  await clock.advance(1_000);
  expect(new Set(tried).size).toBe(451);
  stop();
});

test("a parked receipt that is old and stands behind one that is not is tried again with it", async () => {
  const { clock, parked, tried, stop } = open(400);
  const old = clock.now() - 3_600_000;
  for (const at of parked.keys()) {
    const each = parked[at];
    if (each && at >= 200) parked[at] = { ...each, receipt: { ...each.receipt, receivedAt: old } };
  }
  await clock.advance(0);
  tried.length = 0;
  await clock.advance(1_000);
  expect(tried).toContain("id-0");
  expect(tried).toContain("id-399");
  stop();
});

test("of one that came only just it is said, so that no clock keeps it from its message", async () => {
  const { clock, parked, recent, tried, stop } = open(2);
  await clock.advance(0);
  expect(new Set(recent)).toEqual(new Set(["id-0", "id-1"]));
  const [first] = parked;
  if (first) parked[0] = { ...first, receipt: { ...first.receipt, receivedAt: clock.now() - 3_600_000 } };
  for (const each of [tried, recent]) each.length = 0;
  await clock.advance(1_000);
  expect([tried, recent].map((each) => [...new Set(each)])).toEqual([["id-0", "id-1"], ["id-1"]]);
  stop();
});

test("only those that have found their message are told of, each with its own", async () => {
  const { clock, matched, parked, stop } = open(2);
  parked.splice(1, 0, {
    id: "000000x",
    receipt: { ...parked[0]?.receipt, providerMessageId: "known" } as Receipt,
  });
  await clock.advance(0);
  await clock.advance(1_000);
  expect(new Set(matched)).toEqual(new Set(["known m"]));
  stop();
});
