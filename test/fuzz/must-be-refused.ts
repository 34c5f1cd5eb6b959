import type { Schema } from "./described.ts";
import type { FuzzRequest } from "./draft.ts";

/** Why the OpenAPI description wants a request refused; `undefined` if it may be accepted. */
export function mustBeRefused(request: FuzzRequest): string | undefined {
  return request.refusal ?? bodyProblem(request) ?? queryProblem(request);
}

function bodyProblem({ operation, text = "" }: FuzzRequest): string | undefined {
  if (!operation.request) return undefined;
  const body = parsed(text.replace(/^\ufeff/, ""));
  if (typeof body !== "object" || body === null || Array.isArray(body)) return "the body is no JSON object";
  if (hasForbidden(body)) return "the body has the name __proto__";
  const { allows } = operation.request;
  return allows(body) || allows(withoutNulls(body)) ? undefined : "its schema does not allow the body";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasForbidden(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasForbidden);
}

/** Leaves out fields of `null`, which count as absent, unless the schema allows `null`. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

function queryProblem({ operation, url }: FuzzRequest): string | undefined {
  const query = new URLSearchParams(url.split("?")[1] ?? "");
  for (const { name, schema, required, in: place } of operation.parameters) {
    if (place !== "query") continue;
    const value = query.get(name);
    if (value === null ? required : !fits(value, schema)) return `the query's ${name} is not as described`;
  }
  return undefined;
}

function fits(value: string, { type, format, minimum = 0, maximum = Infinity, ...schema }: Schema): boolean {
  if (type === "integer") return /^\d+$/.test(value) && Number(value) >= minimum && Number(value) <= maximum;
  if (schema.enum) return schema.enum.includes(value);
  if (format === "date-time") return !Number.isNaN(Date.parse(value.replace(/ (?=\d\d:\d\d$)/, "+")));
  return true;
}
