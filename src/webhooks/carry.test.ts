import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { WebhookSettlement } from "../core/webhooks/webhook-outbox.ts";
import { createCarry } from "./carry.ts";
import type { DeliveryResult } from "./deliver.ts";

const WEBHOOK = {
  id: 1,
  claim: 1,
  messageId: "m",
  sequence: 1,
  lane: { accountId: "a", host: "a.test" },
  url: "https://a.test/",
  failures: 0,
  body: "{}",
};

const SECONDS = 1_000;

/** What becomes of one event, and how often it was delivered. */
async function carried(lease: { readonly leftMs: number; readonly isOurs: boolean }) {
  const clock = createHeldClock();
  const settled: WebhookSettlement[] = [];
  let delivered = 0;
  const result: DeliveryResult = {
    verdict: { kind: "delivered" },
    attempt: { at: 0, ms: 1, status: 200 },
    host: { kind: "well" },
  };
  const carry = createCarry({
    outbox: { settle: async (each) => each.map((one) => settled.push(one) > 0) },
    deliver: async () => {
      delivered++;
      return result;
    },
    secretsOf: async () => ["whsec_c2VjcmV0"],
    clock,
    random: () => 0.5,
    log: { isDebug: () => false, debug() {}, info() {}, warn() {}, error() {} },
    observe() {},
    signal: new AbortController().signal,
  });
  const endsMs = clock.monotonicMs() + lease.leftMs;
  await carry(WEBHOOK, { leave() {} }, { endsMs, isOurs: () => lease.isOurs });
  return [delivered, settled.map(({ verdict }) => verdict.kind)];
}

test("an event is delivered while its lease lasts and is this process's, and else put back", async () => {
  expect(await carried({ leftMs: 60 * SECONDS, isOurs: true })).toEqual([1, ["delivered"]]);
  expect(await carried({ leftMs: 10 * SECONDS, isOurs: true })).toEqual([0, ["released"]]);
  expect(await carried({ leftMs: 60 * SECONDS, isOurs: false })).toEqual([0, ["released"]]);
});
