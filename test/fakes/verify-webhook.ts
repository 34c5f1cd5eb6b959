/**
 * Checks a webhook as a receiver does, written from the Standard Webhooks 1.0.0 specification and from nothing of the
 * product: three headers, a timestamp within 5 minutes, and one `v1` signature that fits.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_S = 300;

/** What is wrong with the webhook; `undefined` if nothing is. */
export function verifyWebhook(
  webhook: { readonly headers: Readonly<Record<string, unknown>>; readonly body: string | Uint8Array },
  { secret, nowS }: { readonly secret: string; readonly nowS: number },
): string | undefined {
  const id = webhook.headers["webhook-id"];
  const sentAt = webhook.headers["webhook-timestamp"];
  const signatures = webhook.headers["webhook-signature"];
  if (typeof id !== "string" || typeof sentAt !== "string" || typeof signatures !== "string") {
    return "a header is missing";
  }
  if (!/^\d+$/.test(sentAt)) return "the timestamp is no number of seconds";
  if (Math.abs(nowS - Number(sentAt)) > TOLERANCE_S) return "the timestamp is too far from now";
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${sentAt}.`).update(webhook.body).digest();
  const fits = signatures.split(" ").some((each) => {
    const [version, encoded = ""] = each.split(",", 2);
    const given = Buffer.from(encoded, "base64");
    return version === "v1" && given.length === mac.length && timingSafeEqual(given, mac);
  });
  return fits ? undefined : "no signature fits";
}
