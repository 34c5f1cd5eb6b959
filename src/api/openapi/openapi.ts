/** `/openapi.json`: generated from the route table and the schemas that validate requests. */
import Type, { type TSchema } from "typebox";
import { isObject } from "../../core/body/is-object.ts";
import { present } from "../../core/present.ts";
import { readSetting } from "../../core/records/settings.ts";
import { inTime } from "../../core/work/in-time.ts";
import type { AppDeps } from "../app-deps.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Directory } from "../records/directory.ts";
import { errorResponses } from "./openapi-errors.ts";
import { webhooks } from "./openapi-webhooks.ts";
import { type Json, toReference } from "./to-reference.ts";

interface DocumentDeps extends Pick<AppDeps, "version" | "baseUrl" | "clock"> {
  readonly directory: Pick<Directory, "settings">;
}

/** So long the document waits for the public URL: it can be read while the database is away. */
const PUBLIC_URL_MS = 1_000;

/** Serves the description of `endpoints`, which is generated when it is first asked for, and when the public URL was changed. */
export function openApiEndpoint(endpoints: readonly Endpoint[], deps: DocumentDeps): Endpoint {
  // A `Blob` is shared by all answers. Text would be encoded for each, and kept until its client has read it.
  let written: { readonly publicUrl: string | undefined; readonly document: Blob } | undefined;
  const publicUrlNow = async () => readSetting(await deps.directory.settings(undefined), "public_url");
  const asBefore = () => written?.publicUrl;
  return {
    method: "GET",
    path: "/openapi.json",
    operation: "openapi",
    summary: "This interface, as OpenAPI 3.1",
    tag: "Operation",
    auth: "none",
    responses: { 200: { description: "The document." } },
    async handle() {
      const limit = { limitMs: PUBLIC_URL_MS, late: asBefore };
      const publicUrl = await inTime(deps.clock, limit, publicUrlNow().catch(asBefore));
      if (!written || written.publicUrl !== publicUrl) {
        const described = describe(endpoints, deps.version, serversOf(publicUrl, deps.baseUrl));
        written = { publicUrl, document: new Blob([JSON.stringify(described, withStringType)]) };
      }
      return new Response(written.document, { headers: { "Content-Type": "application/json" } });
    },
  };
}

/** Clients that are generated go to the first one, if nothing else is said. */
function serversOf(publicUrl: string | undefined, baseUrl: string): readonly Json[] {
  const here = { url: baseUrl, description: "Where the process listens" };
  return publicUrl === undefined
    ? [here]
    : [{ url: publicUrl, description: "The setting `public_url`" }, here];
}

/** A `JSON.stringify` replacer that gives enums of strings their `type`: client generators do not infer it. */
function withStringType(_name: string, value: unknown): unknown {
  if (!isObject(value) || !Array.isArray(value.enum) || value.type !== undefined) return value;
  return value.enum.every((each) => typeof each === "string") ? { type: "string", ...value } : value;
}

function describe(endpoints: readonly Endpoint[], version: string, servers: readonly Json[]): Json {
  const schemas = new Map<string, Json>([["Error", { ...ErrorBody }]]);
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
      const operations = paths[path] ?? {};
      paths[path] = operations;
      operations[endpoint.method.toLowerCase()] = describeOperation(endpoint, { path, schemas });
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Postrider", version, description: DESCRIPTION, license: LICENSE },
    servers,
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    webhooks: webhooks(schemas),
    components: { schemas: Object.fromEntries(schemas), securitySchemes: SECURITY_SCHEMES },
  };
}

const DESCRIPTION =
  "Sends SMS and email and registers push devices. An accepted request is stored durably. Every response has the header " +
  "`X-Request-Id`; every error has the body `Error`. In requests under `/v1/`, `null` in an optional field counts as " +
  "absent. After a 503 nothing was accepted, unless `details.outcome` is `unknown`: then a repeat is safe only with the " +
  "same `Idempotency-Key`.\n\n" +
  "A connection serves one request at a time. If a client sends an empty line after a body, or trailers after a chunked one, the " +
  "connection is closed with a 400 that has no body; if it sends the next request before the answer (pipelining), without an answer. If that " +
  "comes together with the end of the request, nothing was accepted, except where a pipelined request comes over HTTPS; if it " +
  "comes later, the request may have been. What is not " +
  "HTTP/1.1 (400, 505), has a head of more than 16 KB or 200 fields (431) or an impossible length (413) is refused without a " +
  "body, and the connection is closed. A request with a method that no standard defines gets no answer. Nor does one whose " +
  "client closes its sending half of the connection before the answer (`shutdown`, `nc -N`), on PostgreSQL always and on SQLite now and " +
  "then, though it may have been accepted. " +
  "`Expect: 100-continue` must be in lower case: a client that writes it otherwise waits in vain, such as PHP's Guzzle for a second " +
  "with each body of 1 MiB or more (unless `expect` is `false`), and Java's `HttpClient` with `expectContinue` without end.";
const LICENSE = { name: "Apache-2.0", identifier: "Apache-2.0" };

const SECURITY_SCHEMES = {
  apiKey: { type: "http", scheme: "bearer", description: "An API key of the account (recommended)." },
  apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key", description: "The same key." },
  adminToken: { type: "http", scheme: "bearer", description: "The admin token." },
};

const SECURITY: Readonly<Record<Endpoint["auth"], readonly Json[]>> = {
  "api-key": [{ apiKey: [] }, { apiKeyHeader: [] }],
  admin: [{ adminToken: [] }],
  none: [],
};

const ErrorBody = Type.Object(
  {
    code: Type.Integer({ description: "Equals the HTTP status code" }),
    message: Type.String({ description: "Short description" }),
    details: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.String(),
          description: "Field name to message. Nested fields use dotted names, for example `from.email`",
        },
      ),
    ),
  },
  { title: "Error" },
);

interface Placement {
  readonly path: string;
  readonly schemas: Map<string, Json>;
}

function describeOperation(endpoint: Endpoint, { path, schemas }: Placement): Json {
  const isAlias = path !== endpoint.path;
  const parameters = [...pathParameters(path), ...queryParameters(endpoint), ...headerParameters(endpoint)];
  return {
    operationId: isAlias ? `${endpoint.operation}Alias` : endpoint.operation,
    summary: endpoint.summary,
    tags: [endpoint.tag],
    security: SECURITY[endpoint.auth],
    ...(isAlias && { deprecated: true, description: `The same as \`${endpoint.path}\`.` }),
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.request && {
      requestBody: { required: !endpoint.request.mayBeAbsent, content: contentOf(endpoint.request, schemas) },
    }),
    responses: describeResponses(endpoint, schemas),
  };
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

/** What a parameter means stands beside its schema, where `/docs` and the comments of generated clients look for it. */
function queryParameters({ query = {} }: Endpoint): readonly Json[] {
  return Object.entries(query).map(([name, described]) => {
    const { description, ...schema } = described as TSchema & { readonly description?: string };
    const required = !Type.IsOptional(described);
    return present({ name, in: "query", required, description, schema });
  });
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A unique value per logical operation; a repeat within 24 hours replays the first answer.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
  example: "0f8b7a34-6f0e-4c57-9a51-3ce2a1b7d9e4",
};

function headerParameters({ idempotent = false }: Endpoint): readonly Json[] {
  return idempotent ? [IDEMPOTENCY_KEY] : [];
}

function describeResponses(endpoint: Endpoint, schemas: Map<string, Json>): Json {
  const shared = errorResponses(endpoint);
  const responses: Record<string, Json> = { ...shared };
  for (const [status, { description, schema, mediaType }] of Object.entries(endpoint.responses)) {
    const isError = Number(status) >= 400 && !schema;
    responses[status] = {
      ...shared[status],
      description,
      headers: { ...shared[status]?.headers, ...responseHeaders(Number(status), endpoint) },
      ...(schema && { content: contentOf({ schema, mediaType }, schemas) }),
      ...(isError && { content: ERROR_CONTENT }),
    };
  }
  return responses;
}

const ERROR_CONTENT = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
const REQUEST_ID = {
  description: "Id of the request; the one it came with, if any.",
  schema: { type: "string" },
};

function responseHeaders(status: number, { idempotent = false, request }: Endpoint): Json {
  const replay = idempotent && status < 300;
  return {
    "X-Request-Id": REQUEST_ID,
    ...(replay && {
      "Idempotent-Replayed": {
        description: "`true` where this is the saved answer of an earlier request.",
        schema: { type: "string", const: "true" },
      },
    }),
    ...(replay &&
      request && {
        "Idempotent-Payload-Mismatch": {
          description: "`true` where that earlier request had another body, be it only in its blanks.",
          schema: { type: "string", const: "true" },
        },
      }),
  };
}

/** An example of a whole body goes beside its schema, where pages for trying out the API look for it. */
function contentOf(
  { schema, mediaType = "application/json" }: { schema: TSchema; mediaType?: string | undefined },
  schemas: Map<string, Json>,
): Json {
  const [example] = (schema as { examples?: readonly unknown[] }).examples ?? [];
  return { [mediaType]: { schema: toReference(schema, schemas), ...(example !== undefined && { example }) } };
}
