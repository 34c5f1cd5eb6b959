import type { Field } from "../forms/fields.ts";

export interface Setting {
  readonly name: string;
  readonly value?: string | number | boolean;
  readonly default?: string | number | boolean;
  readonly set_by: "account" | "instance" | "default";
  readonly scope: "account" | "instance";
  /** In words: `true or false`, `one of a, b`, `an integer from 1 to 5`, … */
  readonly expected: string;
  readonly description: string;
}

/** The field that fits what a setting expects. Pure. */
export function settingField({ expected, value, default: otherwise }: Setting): Field {
  const hint = `Expected: ${expected}${otherwise === undefined ? "" : `. Default: ${otherwise}`}`;
  const field = { name: "value", label: "Value", isRequired: true, hint };
  const words =
    expected === "true or false" ? ["true", "false"] : /^one of (.+)$/.exec(expected)?.[1]?.split(", ");
  if (words) {
    const choices = words.map((word) => [word, word] as const);
    return { ...field, kind: "choice", choices, isJson: expected === "true or false" };
  }
  if (/^an? (integer|number)/.test(expected)) return { ...field, kind: "number" };
  const isLong = expected.includes("PEM") || String(value ?? "").length > 80;
  return { ...field, kind: isLong ? "long" : "text" };
}
