import { beforeEach, describe, expect, test } from "bun:test";
import { randomUUID, X509Certificate } from "node:crypto";
import {
  ANN,
  connector,
  fetched,
  NOW,
  pages,
  receipts,
  refusal,
} from "../../../../test/fakes/mail-callbacks.ts";
import { makeSnsSigner, type SnsSigner } from "../../../../test/fakes/sns-signer.ts";
import { isSignedBySns } from "./sns.ts";

const id = randomUUID();

describe("Amazon SES", () => {
  const topic = "arn:aws:sns:eu-west-1:123456789012:postrider";
  const ses = connector({ provider: "ses", sns_topic_arn: topic });
  let sns: SnsSigner;

  beforeEach(() => {
    fetched.length = 0;
    pages.clear();
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
    expect(all.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
      "5.1.1",
      "bounced",
      "4.4.7",
      undefined,
    ]);
    expect(all[0]?.providerMessageId).toBe(mail.messageId);
  });

  test("a complaint from before, for which SES did not send the mail, is the end of it", async () => {
    const complained = (complaintSubType: string | null) => ({
      eventType: "Complaint",
      complaint: { complainedRecipients: [{ emailAddress: ANN }], complaintSubType },
      mail,
    });
    const told = [complained("OnAccountSuppressionList"), complained(null)];
    const all = (await Promise.all(told.map((each) => receipts(ses, sns.notification(each))))).flat();
    expect(all.map(({ status, suppress }) => [status, suppress])).toEqual([
      ["failed", "complaint"],
      ["complained", "complaint"],
    ]);
  });

  test("tells by the kind of a bounce where no code does, and why it rejected a mail", async () => {
    const told = [
      bounce("Transient", { action: "failed" }),
      bounce("Undetermined", {}),
      { eventType: "Reject", reject: { reason: "Bad content" }, mail: { ...mail, destination: [ANN] } },
    ];
    const all = (await Promise.all(told.map((each) => receipts(ses, sns.notification(each))))).flat();
    expect(all.map(({ status, suppress, error }) => [status, suppress, error?.message])).toEqual([
      ["bounced", "soft_bounce", "the provider reported a bounce"],
      ["bounced", undefined, "the provider reported a bounce"],
      ["failed", undefined, "Bad content"],
    ]);
  });

  test("is not believed with a changed message, an unknown signature version, or of another topic", async () => {
    const told = sns.notification({ notificationType: "Delivery", delivery: { recipients: [ANN] }, mail });
    expect(await refusal(ses, { ...told, Message: `${told.Message} ` })).toBe(401);
    expect(await refusal(ses, { ...told, SignatureVersion: "3" })).toBe(401);
    expect(await refusal(ses, { ...told, TopicArn: `${topic}2` })).toBe(401);
    expect(await refusal(ses, told)).toBe("taken");
  });

  test("is not believed though SNS signed it, if it is of somebody else's topic; and a kind of its own is none", async () => {
    const theirs = makeSnsSigner(`${topic}2`, NOW);
    pages.set(theirs.certificateUrl, theirs.certificate);
    const told = theirs.notification({
      notificationType: "Delivery",
      delivery: { recipients: [ANN] },
      mail,
    });
    expect(await refusal(ses, told)).toBe(401);
    expect(await refusal(connector({ provider: "ses", sns_topic_arn: `${topic}2` }), told)).toBe("taken");
    expect(await refusal(ses, { ...told, Type: "toString", TopicArn: topic })).toBe(400);
  });

  test("whose certificate has run out, is not valid yet, or is none, is not believed", async () => {
    const told = sns.notification({ notificationType: "Delivery", delivery: { recipients: [ANN] }, mail });
    const { validFrom, validTo } = new X509Certificate(sns.certificate);
    const isBelievedAt = (now: number) => {
      const web = { get: async () => sns.certificate };
      return isSignedBySns(told, { web, now, certificates: new Map() });
    };
    const [first, last] = [Date.parse(validFrom), Date.parse(validTo)];
    expect(await Promise.all([first - 1, first, last, last + 1].map(isBelievedAt))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    pages.set(sns.certificateUrl, "<html>");
    expect(await refusal(ses, told)).toBe(401);
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
    for (const url of [`${sns.certificateUrl}?as=it`, "https://sns.eu-west-1.amazonaws.com/other.pem"])
      expect(await refusal(ses, { ...told, SigningCertURL: url })).toBe(401);
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
    // The end of a subscription comes with the means to take it back.
    expect(await receipts(ses, sns.confirmation(url, "UnsubscribeConfirmation"))).toEqual([]);
    expect(fetched).toHaveLength(before);
  });
});
