import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { WebhookSettlement } from "../core/webhooks/webhook-outbox.ts";
import { StoreUnavailable } from "../store/store.ts";
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

interface Circumstances {
  readonly leftMs: number;
  readonly isOurs: boolean;
  /** For so long the database is away. */
  readonly awayMs?: number;
}

/** What becomes of one event, and how often it was delivered. */
async function carried({ leftMs, isOurs, awayMs = 0 }: Circumstances) {
  const clock = createHeldClock();
  const backMs = clock.monotonicMs() + awayMs;
  const settled: WebhookSettlement[] = [];
  let delivered = 0;
  const result: DeliveryResult = {
    verdict: { kind: "delivered" },
    attempt: { at: 0, ms: 1, status: 200 },
    host: { kind: "well" },
  };
  const carry = createCarry({
    outbox: {
      async settle(each) {
        if (clock.monotonicMs() < backMs) throw new StoreUnavailable("away");
        return each.map((one) => settled.push(one) > 0);
      },
    },
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
  const endsMs = clock.monotonicMs() + leftMs;
  const end = carry(WEBHOOK, { leave() {} }, { endsMs, isOurs: () => isOurs });
  // Delivers first.
  await clock.advance(0);
  await clock.advance(awayMs);
  await end;
  return [delivered, settled.map(({ verdict }) => verdict.kind)];
}

test("an event is delivered while its lease lasts and is this process's, and else put back", async () => {
  expect(await carried({ leftMs: 60 * SECONDS, isOurs: true })).toEqual([1, ["delivered"]]);
  expect(await carried({ leftMs: 10 * SECONDS, isOurs: true })).toEqual([0, ["released"]]);
  expect(await carried({ leftMs: 60 * SECONDS, isOurs: false })).toEqual([0, ["released"]]);
});

test("what a receiver took while the database was away is recorded once it is back, and not delivered again", async () => {
  expect(await carried({ leftMs: 60 * SECONDS, isOurs: true, awayMs: 90 * SECONDS })).toEqual([
    1,
    ["delivered"],
  ]);
});
