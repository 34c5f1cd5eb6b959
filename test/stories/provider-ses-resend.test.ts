/** Amazon SES tells through SNS, whose certificate is fetched from its own host; Resend signs by itself. */
import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { onBothStores } from "../both-stores.ts";
import { makeSnsSigner, type SnsSigner } from "../fakes/sns-signer.ts";
import { snsTls } from "../fakes/sns-tls.ts";
import { type LiveEmail, type SentEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  const TOPIC = "arn:aws:sns:eu-west-1:123456789012:postrider";
  const CONFIRM = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f";

  let live: LiveEmail;
  let web: Server | undefined;
  let sns: SnsSigner;
  let asked: string[];

  afterEach(async () => {
    await live.close();
    web?.close();
    web = undefined;
  });

  /** SNS itself: it hands out the certificate of the signer, and is asked to confirm. */
  async function startSes(): Promise<string> {
    asked = [];
    web = createServer({ key: snsTls.key, cert: snsTls.cert }, (request, response) => {
      asked.push(`${request.headers.host} ${request.url}`);
      response.end(request.url?.endsWith(".pem") ? sns.certificate : "<ConfirmSubscriptionResponse/>");
    });
    await new Promise<void>((resolve) => web?.listen(0, "127.0.0.1", resolve));
    const { port } = web.address() as AddressInfo;
    live = await startLiveEmail(
      { provider: "ses", sns_topic_arn: TOPIC },
      { webAddress: { address: "127.0.0.1", port, ca: snsTls.ca } },
    );
    const url = await live.callbackUrl();
    sns = makeSnsSigner(TOPIC, live.postrider.now());
    return url;
  }

  async function tell(url: string, body: unknown, headers: Record<string, string> = {}): Promise<number> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return (await fetch(url, { method: "POST", body: text, headers })).status;
  }

  function mailOf(message: SentEmail) {
    const headers = [{ name: "Message-ID", value: `<${message.id}@acme.example>` }];
    return { messageId: "0000014644fe5ef6-9a483358-9170-4cb4-a269-f5dcdf415321-000000", headers };
  }

  test("SES: the subscription is confirmed, a delivery delivers and a bounce bounces, each by who it is about", async () => {
    const url = await startSes();
    expect(await tell(url, sns.confirmation(CONFIRM))).toBe(200);
    expect(asked.map((line) => line.replace(/-[0-9a-f]{32}/, ""))).toEqual([
      "sns.eu-west-1.amazonaws.com /SimpleNotificationService.pem",
      "sns.eu-west-1.amazonaws.com /?Action=ConfirmSubscription&Token=2336412f",
    ]);
    const message = await live.send(["ann", "bob"]);
    const mail = mailOf(message);
    const delivery = { notificationType: "Delivery", delivery: { recipients: ["ann@example.net"] }, mail };
    expect(await tell(url, sns.notification(delivery))).toBe(200);
    expect(await live.postrider.status(message)).toBe("sent");
    const bouncedRecipients = [{ emailAddress: "bob@example.net", action: "failed", status: "5.1.1" }];
    const bounce = {
      notificationType: "Bounce",
      bounce: { bounceType: "Permanent", bouncedRecipients },
      mail,
    };
    expect(await tell(url, sns.notification(bounce))).toBe(200);
    expect(await live.postrider.status(message)).toBe("bounced");
    expect(await live.suppressions()).toMatchObject([{ email: "bob@example.net", reason: "hard_bounce" }]);
    // One certificate serves them all.
    expect(asked).toHaveLength(2);
  });

  test("SES: what is not signed by SNS's certificate, or is of another topic, moves nothing and confirms nothing", async () => {
    const url = await startSes();
    const message = await live.send(["ann"]);
    const mail = mailOf(message);
    const delivery = { notificationType: "Delivery", delivery: { recipients: ["ann@example.net"] }, mail };
    const forged = { ...sns.notification(delivery), Message: JSON.stringify({ ...delivery, extra: 1 }) };
    expect(await tell(url, forged)).toBe(401);
    const other = makeSnsSigner(TOPIC.replace(":postrider", ":other"), live.postrider.now());
    expect(await tell(url, other.notification(delivery))).toBeGreaterThanOrEqual(400);
    expect(await tell(url, other.confirmation(CONFIRM))).toBeGreaterThanOrEqual(400);
    expect(asked.filter((line) => line.includes("ConfirmSubscription"))).toEqual([]);
    expect(await live.postrider.status(message)).toBe("sent");
  });

  test("Resend: a signed delivery delivers, a complaint suppresses; under another secret it moves nothing", async () => {
    const secret = `whsec_${Buffer.from("a secret of the webhook's").toString("base64")}`;
    live = await startLiveEmail({ provider: "resend", webhook_secret: secret });
    const url = await live.callbackUrl();
    const message = await live.send(["ann"]);
    const signed = async (event: unknown, by = secret, offMs = 0) => {
      const at = new Date(live.postrider.now() + offMs);
      const body = JSON.stringify(event);
      return tell(url, body, {
        "svix-id": "msg_1",
        "svix-timestamp": String(Math.floor(at.getTime() / 1_000)),
        "svix-signature": new Webhook(by).sign("msg_1", at, body),
      });
    };
    const data = { email_id: "e-1", to: ["ann@example.net"], message_id: `<${message.id}@acme.example>` };
    const outOfTime = () =>
      live.postrider.logged.filter(({ msg }) =>
        String(msg).startsWith("a callback was signed too long before"),
      );
    const other = `whsec_${Buffer.from("a secret of somebody else").toString("base64")}`;
    expect(await signed({ type: "email.delivered", data }, other)).toBe(401);
    expect(await signed({ type: "email.delivered", data }, other, -6 * 60_000)).toBe(401);
    expect(outOfTime()).toHaveLength(0);
    expect(await signed({ type: "email.delivered", data }, secret, -6 * 60_000)).toBe(401);
    expect(outOfTime()).toMatchObject([{ dropped: 1 }]);
    expect(await live.postrider.status(message)).toBe("sent");
    expect(await signed({ type: "email.delivered", data })).toBe(200);
    expect(await live.postrider.status(message)).toBe("delivered");
    expect(await signed({ type: "email.complained", data })).toBe(200);
    expect(await live.suppressions()).toMatchObject([{ email: "ann@example.net", reason: "complaint" }]);
  });
});
