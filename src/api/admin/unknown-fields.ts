import type { TObject, TSchema } from "typebox";
import type { FieldErrors } from "../../core/body/field-errors.ts";
import { isObject } from "../../core/body/is-object.ts";
import { unknownName } from "../../core/body/unknown-name.ts";

/**
 * The fields of a body or a configuration, at any depth, that its schema does not know: a misspelt one would do nothing. `secrets`: names
 * at its top that are known besides.
 */
export function unknownFields(schema: TObject, given: object, secrets: readonly string[] = []): FieldErrors {
  const whole = { ...schema, properties: { ...schema.properties, ...secretFields(secrets) } };
  const found = unknownIn(whole, given, "").slice(0, MAX_NAMED);
  return Object.fromEntries(found.map(({ field, name, known }) => [field, unknownName(name, known)]));
}

function secretFields(secrets: readonly string[]): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(secrets.map((name) => [name, {}]));
}

/** How many a refusal names. */
const MAX_NAMED = 20;

/** The JSON Schema keywords that bodies and configurations use and that matter here. */
interface Schema extends TSchema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
}

interface Unknown {
  /** Its dotted name. */
  readonly field: string;
  readonly name: string;
  readonly known: readonly string[];
}

function unknownIn(schema: Schema, value: unknown, at: string): readonly Unknown[] {
  const { properties, additionalProperties, items } = schema;
  if (Array.isArray(value))
    return value.flatMap((entry, index) => (items ? unknownIn(items, entry, `${at}${index}.`) : []));
  // A schema without `properties`, or with others besides, is a map: its names are the operator's choice.
  if (!isObject(value) || !properties || additionalProperties) return [];
  const known = Object.keys(properties);
  return Object.entries(value).flatMap(([name, member]) => {
    const field = at + name;
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return inner ? unknownIn(inner, member, `${field}.`) : [{ field, name, known }];
  });
}
