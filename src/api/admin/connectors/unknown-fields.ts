import type { TObject, TSchema } from "typebox";
import { type FieldErrors, isObject } from "../../../core/field-errors.ts";
import { nearest } from "./nearest.ts";

/** The fields of a configuration that its schema does not know, however deep: a misspelt one would silently do nothing. */
export function unknownFields(schema: TObject, config: object, secrets: readonly string[]): FieldErrors {
  const whole = { ...schema, properties: { ...schema.properties, ...secretFields(secrets) } };
  return Object.fromEntries(unknownIn(whole, config, ""));
}

function secretFields(secrets: readonly string[]): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(secrets.map((name) => [name, {}]));
}

/** The keywords in use. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
}

function unknownIn(schema: Schema, value: unknown, at: string): readonly (readonly [string, string])[] {
  const { properties, additionalProperties, items } = schema;
  if (Array.isArray(value))
    return value.flatMap((entry, index) => (items ? unknownIn(items, entry, `${at}${index}.`) : []));
  // Without properties, or with any others, the names are the operator's own.
  if (!isObject(value) || !properties || additionalProperties) return [];
  const known = Object.keys(properties);
  return Object.entries(value).flatMap(([name, member]) => {
    const field = at + name;
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return inner ? unknownIn(inner, member, `${field}.`) : [[field, reasonFor(name, known)] as const];
  });
}

function reasonFor(name: string, known: readonly string[]): string {
  const hint = nearest(name, known);
  return hint ? `unknown; did you mean ${hint}?` : `unknown; known are ${known.join(", ")}`;
}
