import { beforeEach, describe, expect, test } from "bun:test";
import { createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { makeSnsSigner, type SnsSigner } from "../../../../test/fakes/sns-signer.ts";
import type { Connector } from "../../../core/accounts.ts";
import type { Receipt } from "../../../core/outcome.ts";
import type { CallbackReading, Web } from "../../channel.ts";
import { readMailCallback } from "./read-mail-callback.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const id = randomUUID();
const ANN = "ann@example.net";

/** What was fetched, and what it was answered with. */
let fetched: string[];
let pages: Map<string, string>;
const web: Web = {
  async get(url) {
    fetched.push(url.href);
    return pages.get(`${url.origin}${url.pathname}`);
  },
};

beforeEach(() => {
  fetched = [];
  pages = new Map();
});

function connector(config: Record<string, unknown>, secret = ""): Connector {
  const base = { id: randomUUID(), name: "relay", kind: "smtp", isEnabled: true, createdAt: 0 };
  return { ...base, config: { host: "smtp.example", ...config }, secrets: { webhook_secret: secret } };
}

async function read(
  of: Connector,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<CallbackReading> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request = { method: "POST", url: "https://x.example/", headers: new Headers(headers) };
  return readMailCallback(of, { ...request, body: text, receivedAt: NOW }, web);
}

async function receipts(...call: Parameters<typeof read>): Promise<readonly Receipt[]> {
  const reading = await read(...call);
  if (reading.kind === "refused") throw new Error(reading.reason);
  return reading.receipts;
}

const refusal = async (...call: Parameters<typeof read>) => {
  const reading = await read(...call);
  return reading.kind === "refused" ? reading.status : "taken";
};

describe("Postmark", () => {
  const postmark = connector({ provider: "postmark" });
  const event = (over: object) => ({
    MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
    Metadata: { postrider: id },
    ...over,
  });

  test("tells of deliveries, bounces, complaints and wishes, by the metadata it gives back", async () => {
    const bounce = {
      RecordType: "Bounce",
      Email: ANN,
      Description: "The server was unable to deliver your message",
    };
    const told = [
      event({ RecordType: "Delivery", Recipient: ANN }),
      event({ ...bounce, Type: "HardBounce", Details: "smtp;550 5.1.1 unknown" }),
      event({ ...bounce, Type: "SoftBounce", Details: "smtp;452 4.2.2 full" }),
      event({ ...bounce, Type: "SpamNotification" }),
      event({ RecordType: "SpamComplaint", Type: "SpamComplaint", Email: ANN }),
      event({ RecordType: "SubscriptionChange", Recipient: ANN, SuppressSending: true }),
    ];
    const all = (await Promise.all(told.map((each) => receipts(postmark, each)))).flat();
    expect(all.map(({ status, suppress }) => [status, suppress])).toEqual([
      ["delivered", undefined],
      ["bounced", "hard_bounce"],
      ["bounced", "soft_bounce"],
      ["bounced", undefined],
      ["complained", "complaint"],
      ["complained", "unsubscribe"],
    ]);
    expect(all[1]).toMatchObject({ target: { messageId: id }, recipient: ANN, error: { code: "5.1.1" } });
  });

  test("tells nothing of opens, delays and answers", async () => {
    for (const over of [
      { RecordType: "Open" },
      { RecordType: "Bounce", Type: "Transient" },
      { RecordType: "Bounce", Type: "AutoResponder" },
    ]) {
      expect(await receipts(postmark, event({ Email: ANN, ...over }))).toEqual([]);
    }
  });
});

describe("SendGrid", () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = pair.publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const sendgrid = connector({ provider: "sendgrid" }, key);
  const signed = (body: unknown, at = NOW) => {
    const timestamp = String(Math.floor(at / 1_000));
    const signature = sign("sha256", Buffer.from(timestamp + JSON.stringify(body)), pair.privateKey).toString(
      "base64",
    );
    return {
      "X-Twilio-Email-Event-Webhook-Signature": signature,
      "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
    };
  };
  const event = (over: object) => ({
    email: ANN,
    "smtp-id": `<${id}@acme.example>`,
    sg_message_id: "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
    ...over,
  });

  test("tells of many at once, by the Message-ID or the argument it gives back", async () => {
    const body = [
      event({ event: "delivered" }),
      event({ event: "bounce", type: "bounce", status: "5.1.1", reason: "550 5.1.1 unknown" }),
      event({ event: "bounce", type: "blocked", status: "5.7.1", reason: "550 5.7.1 listed" }),
      event({ event: "dropped", reason: "Spam Reporting Address" }),
      event({ event: "spamreport", "smtp-id": undefined, postrider: id }),
      event({ event: "processed" }),
      event({ event: "deferred" }),
      event({ event: "open" }),
    ];
    const all = await receipts(sendgrid, body, signed(body));
    expect(all.map(({ status, suppress }) => [status, suppress])).toEqual([
      ["delivered", undefined],
      ["bounced", "hard_bounce"],
      ["bounced", undefined],
      ["failed", "complaint"],
      ["complained", "complaint"],
    ]);
    expect(all.every(({ target }) => target?.messageId === id)).toBe(true);
    expect(all[0]?.providerMessageId).toBe("14c5d75ce93");
  });

  test("is not believed without its signature, under another key, over another body, or long after", async () => {
    const body = [event({ event: "delivered" })];
    expect(await refusal(sendgrid, body)).toBe(401);
    expect(await refusal(sendgrid, [...body, ...body], signed(body))).toBe(401);
    expect(await refusal(sendgrid, body, signed(body, NOW - 26 * 3_600_000))).toBe(401);
    expect(await refusal(connector({ provider: "sendgrid" }, "no key"), body, signed(body))).toBe(401);
    expect(await refusal(sendgrid, body, signed(body))).toBe("taken");
  });
});

describe("Resend", () => {
  const secret = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;
  const resend = connector({ provider: "resend" }, secret);
  const signed = (body: unknown, at = NOW) => {
    const timestamp = String(Math.floor(at / 1_000));
    const made = createHmac("sha256", Buffer.alloc(24, 5)).update(
      `msg_1.${timestamp}.${JSON.stringify(body)}`,
    );
    const signature = `v1,AAAA v1,${made.digest("base64")}`;
    return { "svix-id": "msg_1", "svix-timestamp": timestamp, "svix-signature": signature };
  };
  const event = (type: string, over: object = {}) => ({
    type,
    created_at: "2026-11-21T11:59:59.000Z",
    data: {
      email_id: "56761188-7520-42d8-8898-ff6fc54ce618",
      to: [`Ann <${ANN}>`],
      message_id: `<${id}@acme.example>`,
      ...over,
    },
  });

  test("tells of deliveries, bounces by their type, and complaints", async () => {
    const told = [
      event("email.delivered"),
      event("email.bounced", {
        bounce: { type: "Permanent", subType: "General", message: "no such mailbox" },
      }),
      event("email.bounced", { bounce: { type: "Transient", subType: "MailboxFull", message: "full" } }),
      event("email.complained"),
      event("email.delivery_delayed"),
    ];
    const all = (await Promise.all(told.map((each) => receipts(resend, each, signed(each))))).flat();
    expect(all.map(({ status, suppress }) => [status, suppress])).toEqual([
      ["delivered", undefined],
      ["bounced", "hard_bounce"],
      ["bounced", "soft_bounce"],
      ["complained", "complaint"],
    ]);
    expect(all[0]).toMatchObject({ recipient: ANN, target: { messageId: id } });
  });

  test("without our id is matched by its own", async () => {
    const body = event("email.delivered", { message_id: undefined });
    const [receipt] = await receipts(resend, body, signed(body));
    expect(receipt).toMatchObject({ providerMessageId: "56761188-7520-42d8-8898-ff6fc54ce618" });
    expect(receipt?.target).toBeUndefined();
  });

  test("is not believed without its signature, over another body, or after five minutes", async () => {
    const body = event("email.delivered");
    expect(await refusal(resend, body)).toBe(401);
    expect(await refusal(resend, event("email.complained"), signed(body))).toBe(401);
    expect(await refusal(resend, body, signed(body, NOW - 6 * 60_000))).toBe(401);
  });
});

describe("Amazon SES", () => {
  const topic = "arn:aws:sns:eu-west-1:123456789012:postrider";
  const ses = connector({ provider: "ses", sns_topic_arn: topic });
  let sns: SnsSigner;

  beforeEach(() => {
    sns = makeSnsSigner(topic, NOW);
    pages.set(sns.certificateUrl, sns.certificate);
  });

  const mail = {
    messageId: "0000014644fe5ef6-9a483358-9170-4cb4-a269-f5dcdf415321-000000",
    headers: [{ name: "Message-ID", value: `<${id}@acme.example>` }],
  };
  const bounce = (bounceType: string, recipient: object) => ({
    notificationType: "Bounce",
    bounce: { bounceType, bouncedRecipients: [{ emailAddress: ANN, ...recipient }] },
    mail,
  });

  test("tells of deliveries, bounces and complaints, of several recipients at once", async () => {
    const told = [
      { notificationType: "Delivery", delivery: { recipients: [ANN, "bob@example.net"] }, mail },
      bounce("Permanent", { action: "failed", status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 unknown" }),
      bounce("Permanent", {}),
      bounce("Transient", { action: "failed", status: "4.4.7" }),
      bounce("Transient", {}),
      { eventType: "Complaint", complaint: { complainedRecipients: [{ emailAddress: ANN }] }, mail },
    ];
    const all = (await Promise.all(told.map((each) => receipts(ses, sns.notification(each))))).flat();
    expect(all.map(({ status, suppress, recipient }) => [status, suppress, recipient])).toEqual([
      ["delivered", undefined, ANN],
      ["delivered", undefined, "bob@example.net"],
      ["bounced", "hard_bounce", ANN],
      ["bounced", "hard_bounce", ANN],
      ["bounced", "soft_bounce", ANN],
      ["complained", "complaint", ANN],
    ]);
    expect(all.every(({ target }) => target?.messageId === id)).toBe(true);
  });

  test("is not believed with a changed message, an unknown signature version, or of another topic", async () => {
    const told = sns.notification({ notificationType: "Delivery", delivery: { recipients: [ANN] }, mail });
    expect(await refusal(ses, { ...told, Message: `${told.Message} ` })).toBe(401);
    expect(await refusal(ses, { ...told, SignatureVersion: "3" })).toBe(401);
    expect(await refusal(ses, { ...told, TopicArn: `${topic}2` })).toBe(401);
    expect(await refusal(ses, told)).toBe("taken");
  });

  test("whose certificate lies anywhere but with SNS is not believed, and nothing is fetched from there", async () => {
    const told = sns.notification({ notificationType: "Delivery", delivery: { recipients: [ANN] }, mail });
    const path = new URL(sns.certificateUrl).pathname;
    const places = [
      "https://evil.example",
      "https://sns.eu-west-1.amazonaws.com.evil.example",
      "http://sns.eu-west-1.amazonaws.com",
      "https://bucket.s3.amazonaws.com",
      "https://sns.eu-west-1.amazonaws.com:8443",
      "https://sns.eu-west-1.amazonaws.com@evil.example",
    ];
    for (const place of places) {
      pages.set(`${place}${path}`, sns.certificate);
      expect(await refusal(ses, { ...told, SigningCertURL: `${place}${path}` })).toBe(401);
    }
    expect(fetched).toEqual([]);
  });

  test("has its subscription confirmed at SNS, once the request is proven, and nowhere else", async () => {
    const confirm = "https://sns.eu-west-1.amazonaws.com/";
    pages.set(confirm, "<ConfirmSubscriptionResponse/>");
    const url = `${confirm}?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f`;
    expect(await receipts(ses, sns.confirmation(url))).toEqual([]);
    expect(fetched.at(-1)).toBe(url);
    const before = fetched.length;
    for (const elsewhere of [
      "https://evil.example/?Action=ConfirmSubscription",
      `${confirm}?Action=DeleteTopic`,
    ]) {
      expect(await refusal(ses, sns.confirmation(elsewhere))).toBe(400);
    }
    expect(await refusal(ses, { ...sns.confirmation(url), Signature: "AAAA" })).toBe(401);
    expect(fetched).toHaveLength(before);
  });
});

test("what is no JSON, or of a connector without a provider, is refused; whatever JSON says is no fault", async () => {
  expect(await refusal(connector({ provider: "postmark" }), "{")).toBe(400);
  expect(await refusal(connector({}), {})).toBe(400);
  for (const body of [
    null,
    1,
    [],
    {},
    { RecordType: "Bounce", Type: "__proto__", Email: ANN },
    { RecordType: ["Bounce"] },
  ]) {
    expect(await receipts(connector({ provider: "postmark" }), body)).toEqual([]);
  }
});
