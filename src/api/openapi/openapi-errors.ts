import Type, { type TSchema } from "typebox";
import type { FieldErrors } from "../../core/body/field-errors.ts";
import { NOT_AN_OBJECT } from "../../core/body/parse-body.ts";
import { unknownName } from "../../core/body/unknown-name.ts";
import type { Endpoint } from "../endpoint.ts";
import {
  idempotencyKeyReused,
  internalError,
  invalidAdminToken,
  invalidApiKey,
  payloadTooLarge,
  type Refusal,
  requestInProgress,
  requestTimeout,
  serviceUnavailable,
  tooManyRequests,
  unsupportedEncoding,
  unsupportedMediaType,
  validationFailed,
} from "../errors.ts";
import { MALFORMED_KEY } from "../idempotency.ts";
import { countProblem } from "../lists/read-count.ts";

type Json = Readonly<Record<string, unknown>>;

/** The refusals that an endpoint shares with others, by status, each with a real body as its example. */
export function errorResponses(endpoint: Endpoint): Readonly<Record<string, DescribedRefusal>> {
  const refusals = [
    ...(endpoint.query ? [validationFailed(queryProblem(endpoint.query))] : []),
    ...(endpoint.request ? [validationFailed(bodyProblem(endpoint.request.schema))] : []),
    ...bodyRefusals(endpoint),
    ...(endpoint.auth === "api-key" ? [invalidApiKey(), tooManyRequests(1)] : []),
    ...(endpoint.auth === "admin" ? [invalidAdminToken()] : []),
    ...(endpoint.cors || 429 in endpoint.responses ? [tooManyRequests(1)] : []),
    ...idempotencyRefusals(endpoint),
    internalError(),
    serviceUnavailable(),
  ];
  const described: Record<string, DescribedRefusal> = {};
  for (const refusal of refusals) {
    const status = String(refusal.status);
    const one = describe(refusal);
    // Two refusals of one status may have different headers, and an answer has those of one of them.
    described[status] = { ...one, headers: { ...described[status]?.headers, ...one.headers } };
  }
  return described;
}

/** A body of any media type can only be encoded in a wrong way. */
function bodyRefusals({ request, rawBody }: Endpoint): readonly Refusal[] {
  const { maxBytes } = request ?? rawBody ?? {};
  if (maxBytes === undefined) return [];
  const isType = request !== undefined;
  return [
    requestTimeout(),
    payloadTooLarge(maxBytes),
    unsupportedEncoding(),
    ...(isType ? [unsupportedMediaType()] : []),
  ];
}

function idempotencyRefusals({ idempotent, request, auth }: Endpoint): readonly Refusal[] {
  if (!idempotent) return [];
  // Without a body the key alone can be wrong. Such a request is over too soon for a repeat to wait for it.
  if (!request) return [validationFailed(MALFORMED_KEY)];
  // 422 if the account's settings say so. Push endpoints never answer it: their keys are scoped by the body.
  return auth === "api-key" ? [requestInProgress(), idempotencyKeyReused()] : [requestInProgress()];
}

function queryProblem(query: NonNullable<Endpoint["query"]>): FieldErrors {
  if (query.limit) {
    const { minimum: min, maximum: max } = query.limit as TSchema & { minimum: number; maximum: number };
    return { limit: countProblem({ min, max }) };
  }
  const names = Object.keys(query);
  const required = names.find((name) => query[name] && !Type.IsOptional(query[name]));
  if (required !== undefined) return { [required]: "required" };
  // Where nothing has to be given, what is given may still be misspelt.
  const misspelt = `${names[0]}s`;
  return { [misspelt]: unknownName(misspelt, names) };
}

function bodyProblem(schema: TSchema): FieldErrors {
  const [field] = (schema as { required?: readonly string[] }).required ?? [];
  return field === undefined ? NOT_AN_OBJECT : { [field]: "required" };
}

interface DescribedRefusal extends Json {
  readonly headers: Json;
}

function describe({ status, message, more }: Refusal): DescribedRefusal {
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
