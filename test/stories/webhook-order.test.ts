import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { readFeed } from "../chaos/client.ts";
import type { FeedEvent } from "../chaos/model.ts";
import { askAttempts, problemsOfWebhooks } from "../chaos/webhook-rules.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  test("a message's events come in order, until one of them has failed twice", async () => {
    rig.receiver.behave(({ body }) =>
      JSON.parse(body).data.sequence === 1 ? BEHAVIOURS.error : BEHAVIOURS.ok,
    );
    const id = await rig.sms();
    await rig.until(id, ["waiting", "held"]);
    const [first] = await rig.until(id, ["waiting", "delivered"], 30_000);
    expect(first?.failures).toBe(2);
    const sequences = rig.receiver.deliveries.map(({ body }) => JSON.parse(body).data.sequence);
    expect(sequences).toEqual([1, 1, 2]);
    rig.receiver.behave(BEHAVIOURS.ok);
    await rig.until(id, ["delivered", "delivered"], 120_000);
  });

  test("an event goes ahead of one that failed twice without reaching the receiver, and chaos runs find that right", async () => {
    const name = "moved.hooks.test";
    rig.dns.a.set(name, []);
    const callbackUrl = rig.receiver.url({ name });
    const id = await rig.sms(callbackUrl);
    await rig.until(id, ["waiting", "waiting"], 30_000);
    rig.dns.a.set(name, ["127.0.0.1"]);
    await rig.until(id, ["delivered", "delivered"], 120_000);
    const { receiver, service } = rig;
    const { deliveries } = receiver;
    const sequences = deliveries.map(({ body }) => JSON.parse(body).data.sequence);
    expect(sequences).toEqual([2, 1]);
    const events: FeedEvent[] = [];
    await readFeed(service, { apiKey: service.sandbox.api_key }, { after: undefined, events });
    const fates = [{ asked: { body: { callback_url: callbackUrl } }, shown: { message_id: id } }];
    const attemptsOf = askAttempts(service);
    const facts = { fates, events, deliveries };
    expect(await problemsOfWebhooks({ ...facts, attemptsOf })).toEqual([]);
    // Had it failed only once, the next one would have come too early.
    const once = async (eventId: string) => (await attemptsOf(eventId)).slice(-2);
    expect(await problemsOfWebhooks({ ...facts, attemptsOf: once })).toEqual([
      `evt_${id}_2 arrived before evt_${id}_1, which had failed 1 times`,
    ]);
  });
});
