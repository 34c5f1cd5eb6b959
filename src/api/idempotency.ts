import { hash } from "node:crypto";
import type { Idempotency, SavedAnswer } from "../core/messages/accept-request.ts";
import { readSetting } from "../core/records/settings.ts";
import type { Intake } from "../store/store.ts";
import type { Call } from "./endpoint.ts";
import { idempotencyKeyReused, type Refusal, validationFailed } from "./errors.ts";

/** Answers are replayed for this long after the first request. */
const REPLAY_WINDOW_MS = 24 * 3600 * 1000;
const KEY = /^[!-~]{1,255}$/;

/** The `Idempotency-Key` of a request; `undefined` without one. Refuses one that is no key. */
export function idempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (KEY.test(key)) return key;
  throw validationFailed(NOT_A_KEY);
}

const NOT_A_KEY = { "Idempotency-Key": "must be 1 to 255 visible ASCII characters" };

/** The same; also `undefined` for one that is no key. */
export function readableKey(headers: Headers): string | undefined {
  return isNoKey(headers) ? undefined : idempotencyKey(headers);
}

/** A refused request, told of its key along with all else where that is none. */
export function withKeyProblem(refusal: Refusal, headers: Headers): Refusal {
  return isNoKey(headers) ? validationFailed({ ...refusal.more.details, ...NOT_A_KEY }) : refusal;
}

function isNoKey(headers: Headers): boolean {
  const key = headers.get("idempotency-key");
  return key !== null && !KEY.test(key);
}

/** What a key is unique within, by API key: the aliases of a path are one operation. */
export function keyScope(keyId: string, operation: string): string {
  return `${keyId}:${operation}`;
}

/** Hex SHA-256 of a body as it was sent. */
export function digestOf(text: string): string {
  return hash("sha256", text, "hex");
}

/** The request's claim to be made once; `undefined` where it makes none. */
export function idempotencyOf(call: Call, operation: string): Idempotency | undefined {
  const key = call.caller && idempotencyKey(call.headers);
  if (!call.caller || key === undefined) return undefined;
  const scope = keyScope(call.caller.keyId, operation);
  return windowed({ scope, key, bodyDigest: digestOf(call.body?.text ?? ""), now: call.now });
}

/** The key holds from the first request on. */
export function windowed(claim: Omit<Idempotency, "expiresAt">): Idempotency {
  return { ...claim, expiresAt: claim.now + REPLAY_WINDOW_MS };
}

/** The account has chosen that a key with another body is refused. */
export function isStrict(settings: Readonly<Record<string, string>>): boolean {
  return readSetting(settings, "idempotency") === "strict";
}

interface Repeat {
  readonly bodyDigest: string;
  readonly isStrict: boolean;
}

/** The answer that was saved under the key of a request whose body is refused now; `undefined` where there is none. */
export async function replayOfRefused(
  intake: Intake,
  { claim, ...repeat }: Repeat & { readonly claim: Pick<Idempotency, "scope" | "key" | "now"> },
): Promise<Response | undefined> {
  const answer = await intake.savedAnswer(claim);
  return answer && replayed(answer, repeat);
}

/** The first answer again, byte for byte; with another body it is marked, or refused. */
export function replayed(answer: SavedAnswer, { bodyDigest, isStrict }: Repeat): Response {
  const isOther = answer.bodyDigest !== bodyDigest;
  if (isOther && isStrict) throw idempotencyKeyReused();
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "Idempotent-Replayed": "true",
  };
  if (isOther) headers["Idempotent-Payload-Mismatch"] = "true";
  return new Response(answer.body, { status: answer.status, headers });
}
