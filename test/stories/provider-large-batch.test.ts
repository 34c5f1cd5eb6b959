/** A provider that has much to tell at once. */
import { afterEach, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { onBothStores } from "../both-stores.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  let live: LiveEmail;

  afterEach(() => live.close());

  test("the last event of SendGrid's largest batch counts like the first", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = publicKey.export({ format: "der", type: "spki" }).toString("base64");
    live = await startLiveEmail({ provider: "sendgrid", webhook_secret: key });
    const message = await live.send(["ann"]);
    const bounce = { event: "bounce", email: "ann@example.net", postrider: message.id, status: "5.1.1" };
    const events: object[] = [bounce];
    // Of other mails of the same relay, opened and clicked.
    for (let number = 1; number < 2_900; number++)
      events.unshift({ event: "open", number, agent: "x".repeat(230) });
    const body = JSON.stringify(events);
    expect(body.length).toBeGreaterThan(768_000);
    expect(await tell(body, privateKey)).toBe(200);
    expect(await live.postrider.status(message)).toBe("bounced");
  });

  async function tell(body: string, key: Parameters<typeof sign>[2]): Promise<number> {
    const url = await live.callbackUrl();
    const timestamp = String(Math.floor(live.postrider.now() / 1_000));
    const headers = {
      "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
      "X-Twilio-Email-Event-Webhook-Signature": sign("sha256", Buffer.from(timestamp + body), key).toString(
        "base64",
      ),
    };
    const response = await fetch(url, {
      method: "POST",
      body,
      headers,
    });
    return response.status;
  }
});
