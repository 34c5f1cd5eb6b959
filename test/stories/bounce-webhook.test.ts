/** From the request to the webhook: a relay takes an email for two, one is delivered and one comes back. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { postfixDsn } from "../fakes/bounce-mails.ts";
import { type FakeWebhookReceiver, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";
import { allowHooks } from "../webhook-rig.ts";

onBothStores(() => {
  let live: LiveEmail;
  let receiver: FakeWebhookReceiver;

  beforeEach(async () => {
    [live, receiver] = await Promise.all([startLiveEmail(), startFakeWebhookReceiver()]);
    live.dns.a.set("hooks.test", ["127.0.0.1"]);
    await allowHooks(live.postrider, live.dns.address);
    await live.postrider.pass(3_000);
  });

  afterEach(async () => {
    await live.close();
    await receiver.close();
  });

  test("each recipient's outcome is told on its own, with its recipient, status and reason", async () => {
    const message = await live.send(["ann", "bob"], { callback_url: receiver.url() });
    const delivered = postfixDsn({ action: "delivered", status: "2.0.0", reply: "250 2.0.0 Ok" });
    await live.back(message.returnPath(0), delivered);
    await live.back(message.returnPath(1), postfixDsn({ recipient: "bob@example.net" }));
    await live.postrider.passUntil(() => receiver.deliveries.length >= 4, 30_000);
    const told = receiver.deliveries.map(({ body }) => JSON.parse(body));
    const shown = told.map(({ type, data }) => [type, data.recipient, data.status, data.error?.code]);
    expect(shown.slice(2)).toEqual([
      ["email.delivered", "ann@example.net", "delivered", undefined],
      ["email.bounced", "bob@example.net", "bounced", "5.1.1"],
    ]);
    expect(told.map(({ data }) => data.sequence)).toEqual([1, 2, 3, 4]);
    expect(await live.postrider.status(message)).toBe("bounced");
  });
});
