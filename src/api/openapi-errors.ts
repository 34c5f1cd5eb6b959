import type { Endpoint } from "./endpoint.ts";
import {
  idempotencyKeyReused,
  internalError,
  invalidAdminToken,
  invalidApiKey,
  payloadTooLarge,
  type Refusal,
  requestInProgress,
  serviceUnavailable,
  tooManyRequests,
  unsupportedMediaType,
  validationFailed,
} from "./errors.ts";

type Json = Readonly<Record<string, unknown>>;

/** The refusals an endpoint shares with others, by status, each with the body it really has. */
export function errorResponses(endpoint: Endpoint): Readonly<Record<string, Json>> {
  const refusals = [
    ...(endpoint.request
      ? [validationFailed({ to: "required" }), payloadTooLarge(), unsupportedMediaType()]
      : []),
    ...(endpoint.auth === "api-key" ? [invalidApiKey(), tooManyRequests(1)] : []),
    ...(endpoint.auth === "admin" ? [invalidAdminToken()] : []),
    ...(endpoint.cors ? [tooManyRequests(1)] : []),
    ...(endpoint.idempotent ? [requestInProgress(), idempotencyKeyReused()] : []),
    internalError(),
    serviceUnavailable(),
  ];
  return Object.fromEntries(refusals.map((refusal) => [String(refusal.status), describe(refusal)]));
}

function describe({ status, message, more }: Refusal): Json {
  return {
    description: message,
    headers: {
      "X-Request-Id": { schema: { type: "string" } },
      ...Object.fromEntries(
        Object.keys(more.headers ?? {}).map((name) => [name, { schema: { type: "string" } }]),
      ),
    },
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        example: { code: status, message, ...(more.details && { details: more.details }) },
      },
    },
  };
}
