/** Values that a schema allows. If a field's name tells what it means, they fit what exists. */
import type { Chance } from "./chance.ts";
import type { Schema } from "./described.ts";

/** A value for a field of this name; `undefined` leaves it to the schema. */
export type Hint = (name: string, chance: Chance) => unknown;

export interface Making {
  readonly chance: Chance;
  readonly hint: Hint;
}

export function valueFor(schema: Schema, name: string, making: Making): unknown {
  const { chance, hint } = making;
  const hinted = hint(name, chance);
  if (hinted !== undefined) return hinted;
  if (schema.anyOf) return valueFor(chance.pick(schema.anyOf), name, making);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return chance.pick(schema.enum);
  if (schema.examples && chance.is(80)) return chance.pick(schema.examples);
  return plainValue(schema, name, making);
}

function plainValue(schema: Schema, name: string, making: Making): unknown {
  const { chance } = making;
  switch (schema.type) {
    case "object":
      return objectFor(schema, making);
    case "array":
      return arrayFor(schema, name, making);
    case "boolean":
      return chance.is(50);
    case "integer":
    case "number":
      return numberFor(schema, chance);
    case "null":
      return null;
    case "string":
      return stringFor(schema, chance);
    default:
      return chance.pick(["text", 7, true]);
  }
}

function objectFor(
  { properties = {}, required = [], additionalProperties }: Schema,
  making: Making,
): unknown {
  const { chance } = making;
  const names = Object.keys(properties).filter((name) => required.includes(name) || chance.is(35));
  const known = names.map((name) => [name, valueFor(properties[name]!, name, making)] as const);
  if (!additionalProperties) return Object.fromEntries(known);
  const schema = additionalProperties === true ? {} : additionalProperties;
  const free = Array.from({ length: chance.below(4) }, (_, index) => [
    String(index + 1),
    valueFor(schema, "", making),
  ]);
  return Object.fromEntries([...known, ...free]);
}

function arrayFor({ items = {}, minItems = 0, maxItems = 5 }: Schema, name: string, making: Making): unknown {
  const length = minItems + making.chance.below(Math.min(maxItems - minItems, 3) + 1);
  return Array.from({ length }, () => valueFor(items, `${name}[]`, making));
}

function numberFor({ minimum = -1_000, maximum = 1_000 }: Schema, chance: Chance): number {
  if (chance.is(20)) return chance.pick([minimum, maximum]);
  return minimum + chance.below(Math.min(maximum - minimum + 1, 10_000));
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10",
  email: "asha@example.com",
  uri: "https://hooks.invalid/x",
  "date-time": "2026-01-16T00:00:00Z",
};

/** Letters of every width in UTF-8. */
const LETTERS = ["a", "B", "7", "_", "é", "अ", "字", "😀"];

function stringFor({ format, minLength = 0, maxLength = 20 }: Schema, chance: Chance): string {
  if (format !== undefined && FORMATS[format] !== undefined) return FORMATS[format];
  const length = chance.is(10) ? maxLength : Math.max(minLength, Math.min(maxLength, 1 + chance.below(12)));
  const width = chance.is(70) ? 4 : LETTERS.length;
  return Array.from({ length }, () => LETTERS[chance.below(width)]).join("");
}
