/** `Idempotency-Key`: how it is read, what it is unique within, and how a saved answer is replayed. */
import { hash } from "node:crypto";
import type { Idempotency, SavedAnswer } from "../core/messages/accept-request.ts";
import { readSetting, type StoredSettings } from "../core/records/settings.ts";
import { DAY_MS } from "../core/time/durations.ts";
import type { Intake } from "../store/store.ts";
import type { Call } from "./endpoint.ts";
import { idempotencyKeyReused, type Refusal, requestInProgress, validationFailed } from "./errors.ts";

/** Answers are replayed for this long after the first request. */
const REPLAY_WINDOW_MS = DAY_MS;
const KEY = /^[!-~]{1,255}$/;

/** The `Idempotency-Key` of a request; `undefined` if it has none. Refuses a malformed one. */
export function idempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (KEY.test(key)) return key;
  throw validationFailed(MALFORMED_KEY);
}

export const MALFORMED_KEY = { "Idempotency-Key": "must be 1 to 255 visible ASCII characters" };

/** The `Idempotency-Key` of a request; `undefined` if it has none, or a malformed one. */
export function validKey(headers: Headers): string | undefined {
  return hasMalformedKey(headers) ? undefined : idempotencyKey(headers);
}

/** The refusal of a request; if its key is malformed, with that among its problems. */
export function withKeyProblem(refusal: Refusal, headers: Headers): Refusal {
  return hasMalformedKey(headers) ? validationFailed({ ...refusal.more.details, ...MALFORMED_KEY }) : refusal;
}

function hasMalformedKey(headers: Headers): boolean {
  const key = headers.get("idempotency-key");
  return key !== null && !KEY.test(key);
}

/** The scope in which a key is unique: one API key and one operation, whichever of its paths is used. */
export function keyScope(keyId: string, operation: string): string {
  return `${keyId}:${operation}`;
}

/** Hex SHA-256 of a body's exact text. */
export function digestOf(text: string): string {
  return hash("sha256", text, "hex");
}

/** The request's key, with everything that the store needs to honour it; `undefined` if the request has no key. */
export function idempotencyOf(call: Call, operation: string): Idempotency | undefined {
  const key = call.caller && idempotencyKey(call.headers);
  if (!call.caller || key === undefined) return undefined;
  const scope = keyScope(call.caller.keyId, operation);
  return windowed({ scope, key, bodyDigest: digestOf(call.body?.text ?? ""), now: call.now });
}

/** Adds when the key expires, counted from the first request. */
export function windowed(idempotency: Omit<Idempotency, "expiresAt">): Idempotency {
  return { ...idempotency, expiresAt: idempotency.now + REPLAY_WINDOW_MS };
}

/** Whether the account's settings refuse a key that comes with another body. */
export function isStrict(settings: StoredSettings): boolean {
  return readSetting(settings, "idempotency") === "strict";
}

interface Repeat {
  readonly bodyDigest: string;
  readonly isStrict: boolean;
}

/** The saved answer for a request whose body is refused now; `undefined` if its key has none. */
export async function replayOfRefused(
  intake: Intake,
  idempotency: Pick<Idempotency, "scope" | "key" | "now">,
  repeat: Repeat,
): Promise<Response | undefined> {
  const answer = await intake.savedAnswer(idempotency);
  if (answer === "in_progress") throw requestInProgress();
  return answer && replayed(answer, repeat);
}

/** The saved answer, byte for byte. If it was given to another body, it is marked; with `isStrict` the repeat is refused. */
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
