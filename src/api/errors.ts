/** All refusals of the API. Each has the API's one error body. */
import type { FieldErrors } from "../core/body/field-errors.ts";

/** Thrown by endpoints and by what runs before them; `error-handler.ts` turns it into the response. */
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

export const unclearHost = () => validationFailed({ Host: "must be one host, given once" });

/** Nobody receives it: the client has gone, or the listener has told it already that what follows its request is no HTTP. */
export const clientGone = () => validationFailed({ body: "could not be read" });

/** The same for missing, malformed, unknown and revoked keys: the caller is not told which. */
export const invalidApiKey = () => new Refusal(401, "invalid or missing API key", { headers: BEARER });

export const invalidAdminToken = () =>
  new Refusal(401, "invalid or missing admin token", { headers: BEARER });

export const invalidConsolePassword = () => new Refusal(401, "invalid console password", { headers: BEARER });

/** Providers authenticate in either way, and some HTTP clients send a password only after this challenge. */
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

/** The message is final, on its way, or part of it may have left. */
export const tooLateToCancel = () => new Refusal(409, "message can no longer be canceled");

export const requestInProgress = () =>
  new Refusal(409, "request in progress", { headers: { "Retry-After": "5" } });

/** The rest of the body is read and dropped before the answer (`drop-body.ts`), except with `isRestTooLong`. */
export const payloadTooLarge = (maxBytes: number, { isRestTooLong = false } = {}) =>
  new Refusal(413, "payload too large", {
    details: { body: `must be at most ${inWords(maxBytes)}` },
    ...(isRestTooLong && { headers: CLOSE }),
  });

/** Many clients default to text/plain or a form, so the answer says which header is wrong (RFC 9110 §15.5.16). */
export const unsupportedMediaType = () =>
  new Refusal(415, "unsupported media type", {
    details: { "Content-Type": "must be application/json" },
    headers: { Accept: "application/json" },
  });

export const unsupportedEncoding = () =>
  new Refusal(415, "unsupported media type", {
    details: { "Content-Encoding": "must be absent: send the body uncompressed" },
    headers: { "Accept-Encoding": "identity" },
  });

export const idempotencyKeyReused = () => new Refusal(422, "idempotency key reused with a different body");

/** `details`: names the sending limit of the account that is used up, for the whole account or for one recipient. */
export const tooManyRequests = (retryAfterSeconds: number, details?: FieldErrors) =>
  new Refusal(429, "too many requests", {
    headers: { "Retry-After": String(retryAfterSeconds) },
    ...(details && { details }),
  });

/** Nothing was accepted, and the same request may work later. */
export const serviceUnavailable = () =>
  new Refusal(503, "service unavailable", { headers: { "Retry-After": "1" } });

/** The connection to the database was lost before it answered: the request may have been accepted or not. */
export const outcomeUnknown = () =>
  new Refusal(
    503,
    "outcome unknown: the request may have been accepted; repeating it with the same Idempotency-Key is safe",
    { headers: { "Retry-After": "1" }, details: { outcome: "unknown" } },
  );

/** The log has the cause, under the request id. */
export const internalError = () => new Refusal(500, "internal error");

const BEARER = { "WWW-Authenticate": "Bearer" };
const CLOSE = { Connection: "close" };

function inWords(bytes: number): string {
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`;
}

/** The answer to a refused request. `requestId`: its id, where nobody sets that later. */
export function refusalResponse(refusal: Refusal, requestId?: string): Response {
  const { status, message, more } = refusal;
  const body = { code: status, message, ...(more.details && { details: more.details }) };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "Content-Type": "application/json",
      ...more.headers,
      ...(requestId !== undefined && { "X-Request-Id": requestId }),
    },
  });
}
