import { afterEach, expect, test } from "bun:test";
import { BEHAVIOURS } from "../../test/fakes/fake-webhook-receiver.ts";
import { type OutboundRig, startOutboundRig } from "../../test/fakes/outbound-rig.ts";
import { createAttemptDelivery, type OutgoingWebhook } from "./attempt-delivery.ts";

const OLD = "whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";
const NEW = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;
let rig: OutboundRig;
afterEach(() => rig.stop());

async function start(secret: string) {
  rig = await startOutboundRig({ secret });
  const attempt = createAttemptDelivery({ http: rig.http, clock: rig.clock, random: () => 0.5 });
  const { signal } = new AbortController();
  const attemptDelivery = (webhook: OutgoingWebhook) => attempt(webhook, signal);
  const webhook: OutgoingWebhook = {
    id: "evt_019bc1a2-0000-7000-8000-000000000001_1",
    url: rig.receiver.url(),
    body: JSON.stringify({ type: "sms.delivered", data: { metadata: { name: "नमस्ते 👪" } } }),
    secrets: [NEW, OLD],
    failures: 0,
  };
  return { attemptDelivery, webhook };
}

test.each([
  ["the new", NEW],
  ["the old", OLD],
])("a receiver that knows %s secret accepts the delivery", async (_, secret) => {
  const { attemptDelivery, webhook } = await start(secret);
  const at = rig.clock.now();
  expect(await attemptDelivery(webhook)).toEqual({
    verdict: { kind: "delivered" },
    attempt: { at, ms: 0, status: 200, head: "ok" },
    health: { kind: "healthy" },
  });
  expect(rig.receiver.deliveries[0]).toMatchObject({
    problem: undefined,
    body: webhook.body,
    headers: {
      "webhook-id": webhook.id,
      "webhook-timestamp": String(at / 1000),
      "content-type": "application/json",
    },
  });
});

test("the receiver's check can fail", async () => {
  const { attemptDelivery, webhook } = await start(`whsec_${Buffer.alloc(24, 3).toString("base64")}`);
  await attemptDelivery(webhook);
  expect(rig.receiver.deliveries[0]?.problem).toBe("no signature fits");
});

test("a repeat has the same id, the time of its own try, and a signature for it", async () => {
  const { attemptDelivery, webhook } = await start(NEW);
  rig.receiver.behave((_, index) => (index === 0 ? BEHAVIOURS.error : BEHAVIOURS.ok));
  const first = await attemptDelivery(webhook);
  expect(first).toMatchObject({
    verdict: { kind: "again", at: rig.clock.now() + 5_000 },
    attempt: { status: 500, head: "out of order" },
  });
  await rig.clock.advance(5_000);
  expect(await attemptDelivery({ ...webhook, failures: 1 })).toMatchObject({
    verdict: { kind: "delivered" },
  });
  const [one, two] = rig.receiver.deliveries;
  expect(two?.headers["webhook-id"]).toBe(one!.headers["webhook-id"]!);
  expect(Number(two?.headers["webhook-timestamp"]) - Number(one?.headers["webhook-timestamp"])).toBe(5);
  expect([one?.problem, two?.problem]).toEqual([undefined, undefined]);
});

test("a try without an answer is kept with its reason and the time it took", async () => {
  const { attemptDelivery, webhook } = await start(NEW);
  rig.receiver.behave(BEHAVIOURS.silent);
  const at = rig.clock.now();
  const delivery = attemptDelivery(webhook);
  await rig.receiver.arrived(1);
  await rig.clock.advance(15_000);
  expect(await delivery).toEqual({
    // Counted from the end of the try.
    verdict: { kind: "again", at: at + 20_000 },
    attempt: { at, ms: 15_000, error: { code: "timeout", message: "no answer in time" } },
    health: { kind: "failing", reason: "timeout" },
  });
});

test("nothing is sent without a secret", async () => {
  const { attemptDelivery, webhook } = await start(NEW);
  await expect(attemptDelivery({ ...webhook, secrets: [] })).rejects.toThrow("needs a secret");
  expect(rig.receiver.deliveries).toEqual([]);
});
