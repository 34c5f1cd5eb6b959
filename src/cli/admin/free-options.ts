/** Options that are not known beforehand: the kind of the connector determines which fields there are, and of which types. */
import { jsonFault } from "../../core/body/json-fault.ts";
import { parseJson } from "../../core/body/parse-json.ts";
import { UsageFailure } from "../commands/command-failure.ts";
import type { Row } from "./command-line.ts";

export interface KindFields {
  /** JSON schema of an object, as the server reports it. */
  readonly config: { readonly properties?: Readonly<Record<string, FieldSchema>> };
}

export interface FieldSchema {
  readonly type?: string;
  readonly anyOf?: readonly { readonly const?: unknown }[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly items?: { readonly type?: string };
}

/**
 * Reads `--some-field value`, `--some-field=value`, `--flag` and `--no-flag` as fields of the API. Throws `UsageFailure`.
 * Fields that the kind does not have are passed on as text: the server refuses them, and suggests what was meant.
 */
export function readFreeOptions(words: readonly string[], kind: KindFields): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { name, attached } = readName(word);
    const negated = readNegated(name, kind);
    if (negated !== undefined) {
      fields[negated] = false;
      continue;
    }
    const schema = schemaOf(name, kind);
    const type = schema?.type;
    const text = attached ?? takeValue(rest, { word, isFlag: type === "boolean" });
    fields[name] = toValue(text, { type, items: schema?.items?.type, before: fields[name], word });
  }
  return fields;
}

function readName(word: string): { name: string; attached?: string } {
  const match = /^--([A-Za-z0-9][A-Za-z0-9_-]*)(?:=([\s\S]*))?$/.exec(word);
  if (!match) throw new UsageFailure(`"${word}" is not understood: options look like --some-field value`);
  const [, name = "", attached] = match;
  return { name: name.replaceAll("-", "_"), ...(attached !== undefined && { attached }) };
}

/** `tls` for `no_tls`, if there is such a flag and no field called `no_tls`. */
function readNegated(name: string, kind: KindFields): string | undefined {
  if (!name.startsWith("no_") || schemaOf(name, kind)) return undefined;
  const flag = name.slice("no_".length);
  return schemaOf(flag, kind)?.type === "boolean" ? flag : undefined;
}

function schemaOf(name: string, kind: KindFields): FieldSchema | undefined {
  const properties = kind.config.properties ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** A certificate begins with dashes too: `-----BEGIN …`. */
const OPTION = /^--[A-Za-z0-9]/;

function takeValue(rest: string[], { word, isFlag }: { word: string; isFlag: boolean }): string {
  const [next] = rest;
  if (isFlag) return next === "true" || next === "false" ? (rest.shift() ?? "") : "true";
  if (next === undefined || OPTION.test(next)) throw new UsageFailure(`${word} needs a value`);
  return rest.shift() ?? "";
}

interface TypedOption {
  readonly type: string | undefined;
  /** Of an array: the type of its entries. */
  readonly items: string | undefined;
  /** Its value so far, if it was given before. */
  readonly before: unknown;
  readonly word: string;
}

function toValue(text: string, { type, items, before, word }: TypedOption): unknown {
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  // Text that is not a number is sent as it is: the server says what it should be.
  if (type === "integer" || type === "number")
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === "array") {
    const others = Array.isArray(before) ? before : [];
    // So that an empty value clears a list too.
    if (text === "") return others;
    return [...others, ...(items === "object" ? readJsonObjects(text, word) : [text])];
  }
  return type === "object" && text !== "" ? readJsonObject(text, word) : text;
}

/** One entry of a list, or the whole list, as the console takes it and the documentation writes it. */
function readJsonObjects(text: string, word: string): readonly unknown[] {
  if (!text.trimStart().startsWith("[")) return [readJsonObject(text, word)];
  const list = parseJson(text);
  if (Array.isArray(list)) return list;
  throw new UsageFailure(`${word} needs JSON objects; ${jsonFault(text) ?? "this list of them is no JSON"}`);
}

/** @param word the option, for the error */
export function readJsonObject(text: string, word: string): Row {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Row;
  const fault = value === undefined && text.trimStart().startsWith("{") ? jsonFault(text) : undefined;
  throw new UsageFailure(
    `${word} needs a JSON object${fault ? `; ${fault}` : `, for example '{"port":2775}'`}`,
  );
}
