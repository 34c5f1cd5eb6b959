import type { TObject, TSchema } from "typebox";
import type { FieldErrors } from "../../../core/body/field-errors.ts";
import { isObject } from "../../../core/body/is-object.ts";
import { unknownName } from "../../body/unknown-name.ts";

/** The fields of a configuration, at any depth, that its schema does not know: a misspelt option would do nothing. */
export function unknownFields(schema: TObject, config: object, secrets: readonly string[]): FieldErrors {
  const whole = { ...schema, properties: { ...schema.properties, ...secretFields(secrets) } };
  return Object.fromEntries(unknownIn(whole, config, ""));
}

function secretFields(secrets: readonly string[]): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(secrets.map((name) => [name, {}]));
}

/** The JSON Schema keywords that configurations use and that matter here. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
}

function unknownIn(schema: Schema, value: unknown, at: string): readonly (readonly [string, string])[] {
  const { properties, additionalProperties, items } = schema;
  if (Array.isArray(value))
    return value.flatMap((entry, index) => (items ? unknownIn(items, entry, `${at}${index}.`) : []));
  // A schema without `properties`, or with others besides, is a map: its names are the operator's choice.
  if (!isObject(value) || !properties || additionalProperties) return [];
  const known = Object.keys(properties);
  return Object.entries(value).flatMap(([name, member]) => {
    const field = at + name;
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return inner ? unknownIn(inner, member, `${field}.`) : [[field, unknownName(name, known)] as const];
  });
}
