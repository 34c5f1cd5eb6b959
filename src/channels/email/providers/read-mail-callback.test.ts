import { describe, expect, test } from "bun:test";
import { createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { ANN, connector, NOW, receipts, refusal } from "../../../../test/fakes/mail-callbacks.ts";

const id = randomUUID();

describe("Postmark", () => {
  const postmark = connector({ provider: "postmark" });
  const event = (over: object) => ({
    MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
    Metadata: { postrider: id },
    ...over,
  });

  test("tells also why it put an address on its own list: a bounce there is no wish, and does not last as long", async () => {
    const listed = (SuppressionReason: string, SuppressSending = true) =>
      event({ RecordType: "SubscriptionChange", Recipient: ANN, SuppressSending, SuppressionReason });
    const told = [
      ...["HardBounce", "SpamComplaint", "ManualSuppression"].map((reason) => listed(reason)),
      listed("HardBounce", false),
    ];
    const all = (await Promise.all(told.map((each) => receipts(postmark, each)))).flat();
    expect(all.map(({ status, suppress }) => [status, suppress])).toEqual([
      ["bounced", "hard_bounce"],
      ["complained", "complaint"],
      ["complained", "unsubscribe"],
    ]);
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
    expect(all[1]).toMatchObject({
      target: { messageId: id },
      providerMessageId: "883953f4-6105-42a2-a16a-77a8eac79483",
      recipient: ANN,
      error: { code: "5.1.1", message: "smtp;550 5.1.1 unknown" },
      raw: "Bounce HardBounce",
    });
    expect(all[3]?.error).toEqual({ code: "bounced", message: bounce.Description });
  });

  test("tells by a bounce too that the recipient complained or unsubscribed", async () => {
    const bounce = event({ RecordType: "Bounce", Email: ANN });
    for (const [Type, suppress] of [
      ["SpamComplaint", "complaint"],
      ["Unsubscribe", "unsubscribe"],
    ]) {
      expect(await receipts(postmark, { ...bounce, Type })).toMatchObject([
        { status: "complained", suppress },
      ]);
    }
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

  test("tells the kind of a bounce where no code does, the code where only the reason has it, and both wishes", async () => {
    const body = [
      event({ event: "bounce", type: "bounce", reason: "no words of a server" }),
      event({ event: "bounce", type: "blocked", reason: "no words of a server" }),
      event({ event: "bounce", type: "bounce", reason: "552 5.2.2 mailbox full" }),
      event({ event: "dropped", reason: "toString" }),
      event({ event: "unsubscribe" }),
      event({ event: "group_unsubscribe" }),
    ];
    const all = await receipts(sendgrid, body, signed(body));
    expect(all.map(({ status, suppress, error }) => [status, suppress, error])).toEqual([
      ["bounced", "hard_bounce", { code: "bounced", message: "no words of a server" }],
      ["bounced", undefined, { code: "bounced", message: "no words of a server" }],
      ["bounced", "soft_bounce", { code: "5.2.2", message: "552 5.2.2 mailbox full" }],
      ["failed", undefined, { code: "provider.dropped", message: "toString" }],
      ["complained", "unsubscribe", undefined],
      ["complained", "unsubscribe", undefined],
    ]);
  });

  test("tells of at most 5,000 at once, knows our id in capitals too, and keeps 255 characters of its own", async () => {
    const told = event({ event: "delivered", "smtp-id": id.toUpperCase(), sg_message_id: "9".repeat(300) });
    const body = Array.from({ length: 5_001 }, () => told);
    const all = await receipts(sendgrid, body, signed(body));
    expect(all).toHaveLength(5_000);
    expect(all[0]).toMatchObject({ target: { messageId: id }, providerMessageId: "9".repeat(255) });
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
  const signed = (body: unknown, at = NOW, key = Buffer.alloc(24, 5)) => {
    const timestamp = String(Math.floor(at / 1_000));
    const made = createHmac("sha256", key).update(`msg_1.${timestamp}.${JSON.stringify(body)}`);
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
    expect(all[1]).toMatchObject({
      error: { code: "bounced", message: "no such mailbox" },
      raw: "email.bounced Permanent",
    });
  });

  test("tells why it sent a mail to nobody, and which code a server refused it with", async () => {
    const told = [
      event("email.failed", { failed: { reason: "reached_daily_quota" } }),
      event("email.suppressed", { suppressed: { message: "on the suppression list" } }),
      event("email.bounced", { bounce: { type: "Undetermined", message: "550 5.1.1 unknown" } }),
      event("email.bounced", { bounce: { type: "Undetermined" } }),
    ];
    const all = (await Promise.all(told.map((each) => receipts(resend, each, signed(each))))).flat();
    expect(all.map(({ status, suppress, error }) => [status, suppress, error])).toEqual([
      ["failed", undefined, { code: "provider.dropped", message: "reached_daily_quota" }],
      ["failed", "hard_bounce", { code: "provider.dropped", message: "on the suppression list" }],
      ["bounced", "hard_bounce", { code: "5.1.1", message: "550 5.1.1 unknown" }],
      ["bounced", undefined, { code: "bounced", message: "the provider reported a bounce" }],
    ]);
  });

  test("gives our id back among the headers too; what is no recipient is passed over", async () => {
    const headers = [
      { name: "X-Mailer", value: randomUUID() },
      { name: "Message-Id", value: `<${id}@acme.example>` },
    ];
    const body = event("email.delivered", { message_id: undefined, headers, to: [7, ANN] });
    const all = await receipts(resend, body, signed(body));
    expect(all).toMatchObject([{ recipient: ANN, target: { messageId: id } }]);
  });

  test("names all recipients of a mail, whomever it is about: of several only that none was sent to counts", async () => {
    const to = [ANN, "Bob <bob@example.net>"];
    for (const type of ["email.delivered", "email.bounced", "email.complained", "email.suppressed"]) {
      const body = event(type, { to, bounce: { type: "Permanent" } });
      expect(await receipts(resend, body, signed(body))).toEqual([]);
    }
    const body = event("email.failed", { to });
    const all = await receipts(resend, body, signed(body));
    expect(all.map(({ recipient, status }) => [recipient, status])).toEqual([
      [ANN, "failed"],
      ["bob@example.net", "failed"],
    ]);
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

  test("a secret without a key proves nothing: anybody could sign with it", async () => {
    const body = event("email.delivered");
    const keyless = connector({ provider: "resend" }, "whsec_");
    expect(await refusal(keyless, body, signed(body, NOW, Buffer.alloc(0)))).toBe(401);
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
