/** The fields of a form, made from the JSON schema of a request, and what is typed into them. Pure. */
import { isoOfLocal, localOfIso } from "../dom/times.ts";
import type { Choices, FindChoices } from "./choices.ts";

/** What the service's schemas use of JSON Schema. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Alternative[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly description?: string;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Alternative extends Schema {
  readonly const?: unknown;
}

type Kind = "text" | "long" | "secret" | "number" | "time" | "choice" | "lines" | "outlets" | "file" | "json";

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: Kind;
  readonly isRequired: boolean;
  readonly hint?: string;
  readonly otherwise?: string;
  /** Of a choice: the text of the field, and how it is shown. */
  readonly choices?: Choices;
  /** Of a choice: finds others. */
  readonly find?: FindChoices;
  /** The choices are `true` and `false`, or numbers, and no texts. */
  readonly isJson?: boolean;
}

export type Row = Readonly<Record<string, unknown>>;

/** From here on a text has several lines. */
const LONG = 500;

export function fieldsOf({ properties = {}, required = [] }: Schema): readonly Field[] {
  return Object.entries(properties).map(([name, schema]) =>
    toField(name, withoutNull(schema), required.includes(name)),
  );
}

/** What a field takes besides `null`, which clears it: in a form, by leaving it empty. */
function withoutNull(schema: Schema): Schema {
  const [only, ...others] = schema.anyOf?.filter(({ type }) => type !== "null") ?? [];
  return only && others.length === 0 ? only : schema;
}

function toField(name: string, schema: Schema, isRequired: boolean): Field {
  const hint = [schema.description, choicesHint(schema.items), exampleHint(schema)]
    .filter(Boolean)
    .join(". ");
  return {
    name,
    label: labelOf(name),
    isRequired: isRequired && schema.default === undefined,
    ...kindOf(schema),
    ...(hint && { hint }),
    ...(schema.default !== undefined && { otherwise: toText(schema.default) }),
  };
}

function kindOf(schema: Schema): Pick<Field, "kind" | "choices" | "isJson"> {
  const { type, format, maxLength = 0, items } = schema;
  const choices = choicesOf(schema);
  if (choices) {
    const isJson = choices.some((choice) => typeof choice !== "string");
    return {
      kind: "choice",
      choices: choices.map((choice) => [String(choice), shownChoice(choice)]),
      isJson,
    };
  }
  if (type === "string")
    return { kind: format === "date-time" ? "time" : maxLength >= LONG ? "long" : "text" };
  if (type === "integer" || type === "number") return { kind: "number" };
  return { kind: type === "array" && items?.type === "string" ? "lines" : "json" };
}

function choicesOf({ type, enum: words, anyOf }: Schema): readonly unknown[] | undefined {
  if (type === "boolean") return [true, false];
  const choices = words ?? anyOf?.map((each) => each.const);
  return choices?.every((choice) => choice !== undefined) ? choices : undefined;
}

function shownChoice(choice: unknown): string {
  return choice === true ? "yes" : choice === false ? "no" : String(choice);
}

function choicesHint(items: Schema | undefined): string | undefined {
  const choices = items && choicesOf(items);
  return choices && `One of ${choices.join(", ")} on each line`;
}

function exampleHint({ examples: [example] = [] }: Schema): string | undefined {
  return example === undefined ? undefined : `For example \`${example}\``;
}

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  dlt: "DLT",
  dkim: "DKIM",
  sms: "SMS",
  url: "URL",
  urls: "URLs",
  api: "API",
  tls: "TLS",
  tlvs: "TLVs",
  ip: "IP",
  mta: "MTA",
  sts: "STS",
  ehlo: "EHLO",
  ton: "TON",
  npi: "NPI",
};

/** `dlt_template_id` → `DLT template id`. A question needs no `is`. */
export function labelOf(name: string): string {
  const words = name
    .replace(/^is_/, "")
    .split("_")
    .map((word) => ABBREVIATIONS[word] ?? word);
  const text = words.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A value of the API as the text of its field. */
export function toText(value: unknown, kind: Kind = "text"): string {
  if (value === undefined || value === null) return "";
  if (kind === "time") return localOfIso(String(value));
  if (kind === "lines" && Array.isArray(value)) return value.join("\n");
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

export type Parsed = { readonly value: unknown } | { readonly problem: string };

/** The text of a field as a value of the API; nothing typed is `undefined`. */
export function parseText({ kind, isJson, isRequired }: Field, text: string): Parsed {
  if (text.trim() === "") return isRequired ? { problem: "required" } : { value: undefined };
  if (kind === "lines")
    return {
      value: text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    };
  if (kind === "time") return { value: isoOfLocal(text) };
  if (kind === "number") {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { problem: "must be a number" };
  }
  return kind === "json" || isJson ? parseJson(text) : { value: text };
}

function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: "must be JSON" };
  }
}
