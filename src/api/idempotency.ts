/** `Idempotency-Key`: how it is read, what it is unique within, and how a saved answer is replayed. */
import { hash } from "node:crypto";
import type { Idempotency, SavedAnswer } from "../core/messages/accept-request.ts";
import { accountIdOf, MAX_ID_LENGTH } from "../core/push/push-device.ts";
import { readSetting } from "../core/records/settings.ts";
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

/** The request's key, with everything that the store needs to honour it; `undefined` if it has none. Refuses a malformed one. */
export function idempotencyOf(call: Call): Idempotency | undefined {
  const key = idempotencyKey(call.headers);
  if (key === undefined) return undefined;
  const bodyDigest = hash("sha256", call.body?.text ?? "", "hex");
  // Without an API key it is unique within the body: a client library that always sends one key must not make all devices one.
  // With one it is unique within the message that the path names, if any: the key that canceled another one has to cancel this one too.
  const within = call.caller ? call.params.message_id?.toLowerCase() : bodyDigest;
  const scope = `${ownerOf(call)}:${call.operation}${within === undefined ? "" : `:${within}`}`;
  return { scope, key, bodyDigest, now: call.now, expiresAt: call.now + REPLAY_WINDOW_MS };
}

/** Whose the key is: the API key's; where none is needed, the account's that the body names. */
function ownerOf({ caller, body }: Call): string {
  return caller?.keyId ?? accountIdOf(body?.json)?.slice(0, MAX_ID_LENGTH) ?? "";
}

/**
 * Replays the saved answer of a request that is refused now but was accepted earlier under the same key: since then its
 * `schedule_at` may have passed, or its template or its account may have been deleted. Without such an answer, throws the refusal, with a
 * malformed key among its problems.
 */
export async function replayOrRefuse(intake: Intake, call: Call, refusal: Refusal): Promise<Response> {
  const key = call.headers.get("idempotency-key");
  if (key !== null && !KEY.test(key)) throw validationFailed({ ...refusal.more.details, ...MALFORMED_KEY });
  const idempotency = canRepeat(call) ? idempotencyOf(call) : undefined;
  const answer = idempotency && (await intake.savedAnswer(idempotency));
  if (!answer) throw refusal;
  if (answer === "in_progress") throw requestInProgress();
  return replayed(answer, idempotency, call);
}

/**
 * Whether a refused request may repeat one that was accepted. A dry run does not: a 202 would look as if it had sent something. Without
 * an API key nothing does that has another body than what was accepted, least of all one that cannot be read.
 */
function canRepeat({ caller, body }: Call): boolean {
  return caller ? body?.json.dry_run !== true : body !== undefined;
}

/** The saved answer, byte for byte. If it was given to another body, it is marked, or refused where the account's settings say so. */
export function replayed(
  answer: SavedAnswer,
  idempotency: Idempotency | undefined,
  { caller }: Call,
): Response {
  const isOther = answer.bodyDigest !== idempotency?.bodyDigest;
  if (isOther && readSetting(caller?.settings ?? {}, "idempotency") === "strict")
    throw idempotencyKeyReused();
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "Idempotent-Replayed": "true",
  };
  if (isOther) headers["Idempotent-Payload-Mismatch"] = "true";
  return new Response(answer.body, { status: answer.status, headers });
}
