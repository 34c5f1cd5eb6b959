/** Judges a connector's configuration by the schema of its kind, secrets apart. */
import type { TObject, TSchema } from "typebox";
import { Value } from "typebox/value";
import type { ConnectorKind } from "../../../channels/channel.ts";
import { createErrors, type ErrorCollector, isObject, parseBody } from "../../../core/field-errors.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { nearest } from "./nearest.ts";

export type ConnectorSettings = Pick<Connector, "config" | "secrets">;

/**
 * The settings after `given`, which holds fields and secrets alike: what it names changes, `null` clears. Every
 * problem is noted under `config.`, names that the kind does not know included: a misspelt option would otherwise
 * silently do nothing.
 */
export function changeSettings(
  kind: ConnectorKind,
  { current = EMPTY, given = {} }: { current?: ConnectorSettings; given?: object | undefined },
  errors: ErrorCollector = createErrors(),
): ConnectorSettings {
  const config: Record<string, unknown> = { ...current.config };
  const secrets: Record<string, string> = { ...current.secrets };
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    const isSecret = kind.secrets.includes(name);
    const isClearing = value === null || value === undefined;
    if (isClearing) delete (isSecret ? secrets : config)[name];
    else if (!isSecret) config[name] = value;
    else if (isGoodSecret(value)) secrets[name] = value;
    else errors.add(`config.${name}`, `must be a string of 1 to ${MAX_SECRET} characters`);
  }
  judgeConfig(kind, { config, secrets }, errors);
  return { config, secrets };
}

/** With the defaults of the fields that are not set, as the connector works with it. */
export function withDefaults(kind: ConnectorKind | undefined, config: Connector["config"]): unknown {
  return kind ? Value.Default(kind.config, Value.Clone(config)) : config;
}

const EMPTY: ConnectorSettings = { config: {}, secrets: {} };
const MAX_SECRET = 16_384;

function isGoodSecret(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_SECRET;
}

function judgeConfig(
  kind: ConnectorKind,
  { config, secrets }: { config: Record<string, unknown>; secrets: Record<string, string> },
  errors: ErrorCollector,
): void {
  const found = createErrors();
  parseBody(givenSchema(kind.config as TObject), config, (_, problems) => {
    noteUnknown(kind, config, problems);
    for (const [field, reason] of Object.entries(problems.list())) found.add(field, reason);
  });
  noteRest(kind, config, found);
  if (found.isEmpty()) {
    for (const [field, reason] of Object.entries(kind.problems?.({ config, secrets }) ?? {}))
      found.add(field, reason);
  }
  for (const [field, reason] of Object.entries(found.list())) errors.add(`config.${field}`, reason);
}

/** What a body may leave out: a field with a default is not required of it, whatever the full schema says. */
function givenSchema(schema: TObject): TObject {
  const hasDefault = (name: string) => "default" in (schema.properties[name] ?? {});
  return {
    ...schema,
    required: (schema.required ?? []).filter((name: string) => !hasDefault(name)),
  } as TObject;
}

function noteUnknown(kind: ConnectorKind, config: Record<string, unknown>, errors: ErrorCollector): void {
  const known = [...Object.keys((kind.config as TObject).properties), ...kind.secrets];
  for (const name of Object.keys(config)) {
    if (known.includes(name)) continue;
    const hint = nearest(name, known);
    errors.add(name, hint ? `unknown; did you mean ${hint}?` : `unknown; known are ${known.join(", ")}`);
  }
}

/** What only the full schema can tell, of fields that nothing is said of yet: literals, what is in maps. */
function noteRest(kind: ConnectorKind, config: Record<string, unknown>, errors: ErrorCollector): void {
  const full = withDefaults(kind, config);
  if (Value.Check(kind.config, full)) return;
  const said = Object.keys(errors.list());
  for (const { instancePath, message } of Value.Errors(kind.config, full)) {
    const field = instancePath.slice(1).replaceAll("/", ".");
    if (said.some((other) => isWithin(other, field) || isWithin(field, other))) continue;
    const top = (kind.config as TObject).properties[field];
    const choices = top && literalsOf(top);
    errors.add(field || "config", choices ? `must be one of ${choices.join(", ")}` : message);
  }
}

/** The fields and all that is in them: the whole, of which the name is empty, too. */
function isWithin(field: string, whole: string): boolean {
  return whole === "" || field === whole || field.startsWith(`${whole}.`);
}

function literalsOf(schema: TSchema): readonly string[] | undefined {
  const { anyOf } = schema as { anyOf?: unknown };
  if (!Array.isArray(anyOf)) return undefined;
  const literals = anyOf.map((one) => (isObject(one) ? one.const : undefined));
  return literals.every((one) => typeof one === "string") ? (literals as string[]) : undefined;
}
