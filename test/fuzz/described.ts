/** `/openapi.json` as a test reads it: operations, with validators for requests and answers. */
import { Compile } from "typebox/schema";

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly examples?: readonly unknown[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

interface DescribedAnswer {
  /** By media type: a function that says what is wrong with a body. Empty if the answer has no body. */
  readonly bodies: ReadonlyMap<string, (value: unknown) => string | undefined>;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly auth: "api-key" | "admin" | "none";
  readonly parameters: readonly Parameter[];
  readonly request?: { readonly schema: Schema; readonly allows: (value: unknown) => boolean };
  readonly answers: ReadonlyMap<number, DescribedAnswer>;
  /** All methods of its path. */
  readonly methods: readonly string[];
}

type Json = Record<string, unknown>;

export async function readDescribed(url: string): Promise<readonly Operation[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, Json> };
  const whole = resolved(document, document) as typeof document;
  return Object.entries(whole.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, described]) =>
      toOperation(described as Json, { method, path, methods: Object.keys(operations) }),
    ),
  );
}

interface Where {
  readonly method: string;
  readonly path: string;
  readonly methods: readonly string[];
}

function toOperation(described: Json, { method, path, methods }: Where): Operation {
  const schema = schemaOf(described.requestBody, "application/json");
  const check = schema && Compile(schema as object);
  return {
    id: String(described.operationId),
    method: method.toUpperCase(),
    path,
    auth: authOf(described.security as readonly Json[]),
    parameters: (described.parameters ?? []) as readonly Parameter[],
    ...(schema && check && { request: { schema, allows: (value: unknown) => check.Check(value) } }),
    answers: new Map(
      Object.entries(described.responses as Json).map(([status, answer]) => [
        Number(status),
        { bodies: bodiesOf(answer as Json) },
      ]),
    ),
    methods: methods.map((each) => each.toUpperCase()),
  };
}

function authOf(security: readonly Json[]): Operation["auth"] {
  if (security.length === 0) return "none";
  return security.some((each) => "adminToken" in each) ? "admin" : "api-key";
}

function schemaOf(holder: unknown, type: string): Schema | undefined {
  const content = (holder as { content?: Record<string, { schema: Schema }> } | undefined)?.content;
  return content?.[type]?.schema;
}

function bodiesOf(answer: Json): DescribedAnswer["bodies"] {
  const types = Object.keys((answer.content ?? {}) as Json);
  return new Map(
    types.map((type) => {
      const check = Compile(closed(schemaOf(answer, type) ?? {}) as object);
      return [type, (value: unknown) => (check.Check(value) ? undefined : why(check.Errors(value)))] as const;
    }),
  );
}

function why([, errors]: readonly [boolean, readonly { instancePath: string; message: string }[]]): string {
  return errors.map(({ instancePath, message }) => `${instancePath} ${message}`).join(", ");
}

/** Replaces references by what they refer to: nothing in the document is recursive. */
function resolved(value: unknown, document: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => resolved(each, document));
  if (typeof value !== "object" || value === null) return value;
  const { $ref } = value as { $ref?: string };
  if ($ref !== undefined) {
    const steps = $ref.slice(2).split("/");
    return resolved(
      steps.reduce((at, step) => (at as Json)[step], document as unknown),
      document,
    );
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each, document)]));
}

/** The schema, without additional properties: answers have no field that is not described. */
function closed(schema: Schema): Schema {
  const { properties, items, anyOf, additionalProperties } = schema;
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map(closed) }),
    ...(items && { items: closed(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, closed(each)])),
      additionalProperties: additionalProperties ?? false,
    }),
  };
}
