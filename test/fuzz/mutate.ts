/** Bodies that differ a little from the schema: a field is missing or odd, or just at a limit or one over it. */
import type { Chance } from "./chance.ts";
import type { Schema } from "./described.ts";
import { ODD_NAMES, oddObject, oddString, oddValue } from "./odd-values.ts";

/** `value`, changed in one place, at any depth. */
export function mutated(value: unknown, schema: Schema, chance: Chance): unknown {
  const inner = schemaFor(schema, value, chance);
  if (isObject(value) && Object.keys(value).length > 0 && chance.is(85))
    return inObject(value, inner, chance);
  if (Array.isArray(value) && value.length > 0 && chance.is(60)) return inArray(value, inner, chance);
  const atLimit = chance.is(60) ? nearLimit(inner, value, chance) : undefined;
  return atLimit === undefined ? oddValue(chance) : atLimit;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function schemaFor({ anyOf, ...schema }: Schema, value: unknown, chance: Chance): Schema {
  if (!anyOf) return schema;
  const kind = Array.isArray(value) ? "array" : typeof value;
  return anyOf.find(({ type }) => type === kind) ?? chance.pick(anyOf);
}

function inObject(value: Record<string, unknown>, schema: Schema, chance: Chance): unknown {
  const { properties = {}, additionalProperties } = schema;
  const name = chance.pick(Object.keys(value));
  const free = typeof additionalProperties === "object" ? additionalProperties : {};
  const { [name]: old, ...rest } = value;
  const unused = Object.keys(properties).filter((each) => !(each in value));
  const kinds: readonly (() => unknown)[] = [
    () => rest,
    () => ({ ...value, [name]: null }),
    () => own(value, chance.pick(ODD_NAMES), oddValue(chance)),
    () => own(value, chance.pick(unused.length > 0 ? unused : ODD_NAMES), oddValue(chance)),
    () => ({ ...oddObject(chance), ...value }),
    () => own(value, name, mutated(old, properties[name] ?? free, chance)),
    () => own(value, name, mutated(old, properties[name] ?? free, chance)),
    () => own(value, name, mutated(old, properties[name] ?? free, chance)),
    () => own(value, name, mutated(old, properties[name] ?? free, chance)),
  ];
  return chance.pick(kinds)();
}

/** Sets an own field, even if it is called `__proto__`. */
function own(value: Record<string, unknown>, name: string, field: unknown): unknown {
  return Object.fromEntries([...Object.entries(value).filter(([each]) => each !== name), [name, field]]);
}

function inArray(value: readonly unknown[], { items = {} }: Schema, chance: Chance): unknown {
  const at = chance.below(value.length);
  const kinds: readonly (() => unknown)[] = [
    () => value.with(at, mutated(value[at], items, chance)),
    () => [...value, oddValue(chance)],
    () => [...value, value[at]],
    () => value.toSpliced(at, 1),
  ];
  return chance.pick(kinds)();
}

function nearLimit(schema: Schema, value: unknown, chance: Chance): unknown {
  const step = chance.pick([-1, 0, 1]);
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties } = schema;
  if (minimum !== undefined && chance.is(50)) return minimum + step;
  if (maximum !== undefined) return maximum + step;
  if (Array.isArray(value) && maxItems !== undefined)
    return filled(value, Math.max(minItems ?? 0, maxItems + step));
  if (isObject(value) && maxProperties !== undefined) return withFields(value, maxProperties + step);
  if (minLength !== undefined && chance.is(30)) return "a".repeat(Math.max(0, minLength + step));
  if (maxLength !== undefined) return letters(maxLength + step, chance);
  return typeof value === "string" ? oddString(chance) : undefined;
}

function filled(value: readonly unknown[], length: number): unknown {
  return Array.from({ length }, (_, index) => value[index % Math.max(1, value.length)] ?? "a");
}

function withFields(value: Record<string, unknown>, count: number): unknown {
  const more = Array.from({ length: count }, (_, index) => [String(index + 1), "a"] as const);
  return Object.fromEntries([...Object.entries(value), ...more].slice(0, count));
}

/** A text of so many characters, bytes or UTF-16 units: limits count one or the other. */
function letters(length: number, chance: Chance): string {
  const one = chance.pick(["a", "a", "a", "é", "字", "😀", "e\u0301"]);
  return one.repeat(Math.ceil(length / (chance.is(50) ? 1 : one.length)));
}
