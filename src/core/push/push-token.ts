import { parseJson } from "../body/parse-json.ts";
import { isVisibleAscii } from "../body/text-rules.ts";
import type { PushPlatform } from "../records/accounts.ts";

/** What is wrong with the shape of a device token, by platform; `undefined` if nothing is. */
export function deviceTokenProblem(platform: PushPlatform, token: string): string | undefined {
  return isOfShape[platform](token) ? undefined : EXPECTED[platform];
}

const EXPECTED = {
  apns: "must be an APNs device token: 64 to 400 hexadecimal digits",
  fcm: "must be an FCM registration token without spaces",
  web: "must be a JSON PushSubscription with an https endpoint, keys.p256dh and keys.auth",
} as const satisfies Record<PushPlatform, string>;

const isOfShape: Readonly<Record<PushPlatform, (token: string) => boolean>> = {
  // Tokens have 32 octets today, but Apple does not promise that.
  apns: (token) => APNS.test(token),
  // Registration tokens, and the installation ids of newer SDKs, are opaque.
  fcm: isVisibleAscii,
  web: isSubscription,
};

const APNS = /^(?:[0-9A-Fa-f]{2}){32,200}$/;
/** Base64url of 65 octets, the first 0x04: an uncompressed P-256 point (RFC 8291 §2.1). */
const P256DH = /^B[A-P][A-Za-z0-9_-]{85}=?$/;
/** Base64url of 16 octets (RFC 8291 §3.2). */
const AUTH = /^[A-Za-z0-9_-]{22}(?:==)?$/;

/** `PushSubscription.toJSON()` of the Push API. Where the endpoint points is judged when something is sent to it. */
function isSubscription(token: string): boolean {
  const { endpoint, keys } = members(parseJson(token));
  const { p256dh, auth } = members(keys);
  return isHttpsUrl(endpoint) && matches(P256DH, p256dh) && matches(AUTH, auth);
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function matches(pattern: RegExp, value: unknown): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isHttpsUrl(value: unknown): boolean {
  const url = typeof value === "string" && /^https:\/\/[^/?#\s\\]/.test(value) ? URL.parse(value) : undefined;
  return url?.username === "" && url.password === "";
}
