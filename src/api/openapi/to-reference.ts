import { isObject } from "../../core/body/is-object.ts";

export type Json = Readonly<Record<string, unknown>>;

/**
 * References for schemas with a title, at any depth, which are described once, in `schemas`; others stay as they are. A client that
 * is generated from the description has one type for what has one title, and another for each place where there is none.
 */
export function toReference(schema: unknown, schemas: Map<string, Json>): unknown {
  if (!isObject(schema)) return schema;
  const parts = { ...schema };
  for (const name of ["items", "additionalProperties"])
    if (isObject(parts[name])) parts[name] = toReference(parts[name], schemas);
  for (const name of ["anyOf", "allOf"])
    if (Array.isArray(parts[name])) parts[name] = parts[name].map((each) => toReference(each, schemas));
  if (isObject(parts.properties)) {
    const fields = Object.entries(parts.properties);
    parts.properties = Object.fromEntries(fields.map(([name, each]) => [name, toReference(each, schemas)]));
  }
  if (typeof parts.title !== "string") return parts;
  schemas.set(parts.title, parts);
  return { $ref: `#/components/schemas/${parts.title}` };
}
