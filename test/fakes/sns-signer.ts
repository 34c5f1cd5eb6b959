/** Messages as Amazon SNS signs them (signature version 2), under a key of the test's own. */
import { randomUUID, sign } from "node:crypto";
import { testTls } from "./test-tls.ts";

export type SnsMessage = Readonly<Record<string, string>>;

export interface SnsSigner {
  readonly certificate: string;
  /** Where a message says that its certificate is. */
  readonly certificateUrl: string;
  notification(message: unknown): SnsMessage;
  /** Of the kind `SubscriptionConfirmation`, if no other is given. */
  confirmation(subscribeUrl: string, type?: string): SnsMessage;
}

export function makeSnsSigner(topic: string, at: number): SnsSigner {
  const [, , , region] = topic.split(":");
  const name = `SimpleNotificationService-${randomUUID().replaceAll("-", "")}.pem`;
  const certificateUrl = `https://sns.${region}.amazonaws.com/${name}`;
  const shared = { MessageId: randomUUID(), Timestamp: new Date(at).toISOString(), TopicArn: topic };
  const signed = (fields: SnsMessage): SnsMessage => ({
    ...fields,
    SignatureVersion: "2",
    Signature: sign("sha256", Buffer.from(canonical(fields)), testTls.key).toString("base64"),
    SigningCertURL: certificateUrl,
  });
  return {
    certificate: testTls.cert,
    certificateUrl,
    notification: (message) => signed({ ...shared, Type: "Notification", Message: JSON.stringify(message) }),
    confirmation: (url, type = "SubscriptionConfirmation") =>
      signed({
        ...shared,
        Type: type,
        Message: "You have chosen to subscribe.",
        SubscribeURL: url,
        Token: "2336412f",
      }),
  };
}

/** Name and value of every field, each on its line, in order of the names. */
function canonical(fields: SnsMessage): string {
  const names = Object.keys(fields).sort();
  return names.map((name) => `${name}\n${fields[name]}\n`).join("");
}
