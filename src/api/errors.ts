/** Every way in which the interface says no, in one file. The bodies are the interface's error body and no other. */
import type { FieldErrors } from "../core/field-errors.ts";

/** Thrown by endpoints; the one error handler in `app.ts` turns it into the answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly status: number,
    message: string,
    readonly more: {
      readonly details?: FieldErrors;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
  }
}

export const validationFailed = (details: FieldErrors) => new Refusal(400, "validation failed", { details });

/** One sentence for missing, malformed, unknown and revoked keys: which of these it was is nobody's business. */
export const invalidApiKey = () => new Refusal(401, "invalid or missing API key", { headers: BEARER });

export const invalidAdminToken = () =>
  new Refusal(401, "invalid or missing admin token", { headers: BEARER });

/** A provider may prove itself either way, and a client of its that has a password may give it only when asked to. */
export const callbackNotAuthenticated = () =>
  new Refusal(401, "callback not authenticated", {
    headers: { "WWW-Authenticate": 'Bearer, Basic realm="callbacks"' },
  });

export const notFound = () => new Refusal(404, "not found");

export const messageNotFound = () => new Refusal(404, "message not found");

export const contactNotFound = () => new Refusal(404, "contact not found");

export const methodNotAllowed = (allow: string) =>
  new Refusal(405, "method not allowed", { headers: { Allow: allow } });

/** The rest of the body is not read, so the connection cannot be used again. */
export const requestTimeout = () => new Refusal(408, "request timeout", { headers: CLOSE });

export const conflict = (details: FieldErrors) => new Refusal(409, "conflict", { details });

/** It is final, on its way, or something of it may have left. */
export const tooLateToCancel = () => new Refusal(409, "message can no longer be canceled");

export const requestInProgress = () =>
  new Refusal(409, "request in progress", { headers: { "Retry-After": "5" } });

/** The rest of the body is not read, so the connection cannot be used again. */
export const payloadTooLarge = () => new Refusal(413, "payload too large", { headers: CLOSE });

export const unsupportedMediaType = () => new Refusal(415, "unsupported media type");

export const idempotencyKeyReused = () => new Refusal(422, "idempotency key reused with a different body");

export const tooManyRequests = (retryAfterSeconds: number) =>
  new Refusal(429, "too many requests", { headers: { "Retry-After": String(retryAfterSeconds) } });

/** The account, or a recipient, has had what a limit of the account allows; `details` names the limit. */
export const overLimit = (retryAfterSeconds: number, details: FieldErrors) =>
  new Refusal(429, "too many requests", { headers: { "Retry-After": String(retryAfterSeconds) }, details });

/** Nothing was accepted, and the same request may work later. */
export const serviceUnavailable = (retryAfterSeconds = 1, details?: FieldErrors) =>
  new Refusal(503, "service unavailable", {
    headers: { "Retry-After": String(retryAfterSeconds) },
    ...(details && { details }),
  });

/** The database was lost before it had answered: the request may have been accepted, or not. */
export const outcomeUnknown = () =>
  new Refusal(
    503,
    "outcome unknown: the request may have been taken; repeating it with the same Idempotency-Key is safe",
    { headers: { "Retry-After": "1" }, details: { outcome: "unknown" } },
  );

/** The cause is in the log, under the request id. */
export const internalError = () => new Refusal(500, "internal error");

const BEARER = { "WWW-Authenticate": "Bearer" };
const CLOSE = { Connection: "close" };

/** The answer to a refused request. */
export function refusalResponse(refusal: Refusal): Response {
  const { status, message, more } = refusal;
  const body = { code: status, message, ...(more.details && { details: more.details }) };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...more.headers },
  });
}
