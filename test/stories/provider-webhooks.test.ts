/** A relay that belongs to a provider, which tells by webhook what became of an email. */
import { afterEach, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { onBothStores } from "../both-stores.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  let live: LiveEmail;

  afterEach(() => live.close());

  async function start(config: Readonly<Record<string, unknown>>): Promise<string> {
    live = await startLiveEmail(config);
    return live.callbackUrl();
  }

  async function tell(url: string, body: unknown, headers: Record<string, string> = {}): Promise<number> {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body), headers });
    return response.status;
  }

  test("Postmark gives back the id its mail brought, and the recipient's mail is delivered, then complained of", async () => {
    const url = await start({ provider: "postmark" });
    const message = await live.send(["ann", "bob"]);
    const tag = live.relay.received[0]?.parsed.headers.find(({ key }) => key === "x-pm-metadata-postrider");
    expect(tag?.value).toBe(message.id);
    const event = { MessageID: "m-1", Metadata: { postrider: tag?.value }, Recipient: "bob@example.net" };
    expect(await tell(url, { ...event, RecordType: "Delivery" })).toBe(200);
    expect(await live.postrider.status(message)).toBe("sent");
    expect(await tell(url, { ...event, RecordType: "Delivery", Recipient: "ann@example.net" })).toBe(200);
    expect(await live.postrider.status(message)).toBe("delivered");
    expect(await tell(url, { ...event, RecordType: "SpamComplaint", Email: "bob@example.net" })).toBe(200);
    expect(await live.suppressions()).toMatchObject([{ email: "bob@example.net", reason: "complaint" }]);
    expect(await live.postrider.status(message)).toBe("delivered");
  });

  test("what a caller tells SendGrid is sent with the argument that brings its webhooks back", async () => {
    await start({ provider: "sendgrid", webhook_secret: "MFkwEwYH" });
    const wishes = { category: ["Grüße", "n".repeat(700)], unique_args: { order: "42", postrider: "x" } };
    const message = await live.send(["ann"], { headers: { "x-smtpapi": JSON.stringify(wishes) } });
    await live.send(["bob"], { headers: { "X-SMTPAPI": JSON.stringify({ category: "n".repeat(950) }) } });
    const told = live.relay.received.map(({ raw }) => {
      const [, value = ""] = /\r\nX-SMTPAPI:((?:.|\r\n )*)\r\n/i.exec(raw) ?? [];
      return value.replaceAll("\r\n", "").trim();
    });
    expect(told[0]).toMatch(/^[ -~]*$/);
    const args = { order: "42", postrider: message.id };
    expect(JSON.parse(told[0] ?? "")).toEqual({ ...wishes, unique_args: args });
    // No line holds such a word; what is told then is our id alone.
    expect(JSON.parse(told[1] ?? "")).toEqual({ unique_args: { postrider: expect.any(String) } });
  });

  test("SendGrid's bounce, signed, bounces; unsigned it is refused and moves nothing", async () => {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = pair.publicKey.export({ format: "der", type: "spki" }).toString("base64");
    const url = await start({ provider: "sendgrid", webhook_secret: key });
    const message = await live.send(["ann"]);
    const smtpId = live.relay.received[0]?.parsed.messageId;
    // SendGrid reads it as JSON, and decodes nothing.
    const argument = JSON.stringify({ unique_args: { postrider: message.id } });
    const unfolded = live.relay.received[0]?.raw.replaceAll(/\r\n(?= )/g, "");
    expect(unfolded).toContain(`\r\nX-SMTPAPI: ${argument}\r\n`);
    const body = [
      {
        event: "bounce",
        type: "bounce",
        email: "ann@example.net",
        "smtp-id": smtpId,
        status: "5.1.1",
        reason: "550 5.1.1",
      },
    ];
    expect(await tell(url, body)).toBe(401);
    expect(await live.postrider.status(message)).toBe("sent");
    const timestamp = String(Math.floor(live.postrider.now() / 1_000));
    const signature = sign("sha256", Buffer.from(timestamp + JSON.stringify(body)), pair.privateKey);
    const headers = {
      "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
      "X-Twilio-Email-Event-Webhook-Signature": signature.toString("base64"),
    };
    expect(await tell(url, body, headers)).toBe(200);
    expect(await live.postrider.status(message)).toBe("bounced");
    expect(await live.suppressions()).toMatchObject([{ reason: "hard_bounce", source: message.id }]);
  });

  test("a provider that signs needs its secret, and SES its topic, before the connector is taken", async () => {
    await start({ provider: "postmark" });
    const attempt = (provider: string) =>
      fetch(`${live.postrider.url}/admin/v1/connectors`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${live.postrider.sandbox.admin_token}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ kind: "smtp", config: { host: "smtp.example", provider } }),
      }).then((response) => response.json() as Promise<{ details?: Record<string, string> }>);
    expect(Object.keys((await attempt("ses")).details ?? {}).join()).toContain("sns_topic_arn");
    for (const name of ["sendgrid", "resend"]) {
      expect(Object.keys((await attempt(name)).details ?? {}).join()).toContain("webhook_secret");
    }
  });
});
