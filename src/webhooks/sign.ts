import { createHmac } from "node:crypto";

export interface Unsigned {
  /** The same on every delivery of an event. Must not contain `.`, which separates it from the timestamp. */
  readonly id: string;
  /** Unix seconds of this delivery. */
  readonly timestamp: number;
  /** Exactly the text that is sent. */
  readonly body: string;
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0.0): one `v1,` signature per secret, so that a receiver may know
 * the old or the new one during a rotation. Secrets are base64, with or without `whsec_` in front. Throws if there is none.
 */
export function sign({ id, timestamp, body }: Unsigned, secrets: readonly string[]): string {
  if (secrets.length === 0) throw new Error("a webhook needs a secret to sign it with");
  const signed = `${id}.${timestamp}.${body}`;
  return secrets.map((secret) => `v1,${hmac(secret, signed)}`).join(" ");
}

const PREFIX = "whsec_";

function hmac(secret: string, text: string): string {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, "base64");
  return createHmac("sha256", key).update(text).digest("base64");
}
