/** A connector's settings: `config`, judged by the schema of the connector's kind, and its secrets. */
import type { TObject } from "typebox";
import { Value } from "typebox/value";
import type { ConnectorKind } from "../../../channels/channel.ts";
import { createErrors, type ErrorCollector } from "../../../core/body/field-errors.ts";
import { validFields } from "../../../core/body/parse-body.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { unknownFields } from "../unknown-fields.ts";

export type ConnectorSettings = Pick<Connector, "config" | "secrets">;

export interface SettingsChange {
  /** Absent: the connector is new. */
  readonly current?: ConnectorSettings;
  /** Fields and secrets alike: those that it names change, `null` clears. */
  readonly given?: object | undefined;
}

/**
 * The settings after a change. Every problem is noted under `config.`; so are names that the kind does not know, since a
 * misspelt option would otherwise silently do nothing.
 */
export function changeSettings(
  kind: ConnectorKind,
  { current = EMPTY, given = {} }: SettingsChange,
  errors: ErrorCollector = createErrors(),
): ConnectorSettings {
  const config: Record<string, unknown> = { ...current.config };
  const secrets: Record<string, string> = { ...current.secrets };
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    const isSecret = Object.hasOwn(kind.secrets, name);
    const isClearing = value === null || value === undefined;
    if (isClearing) delete (isSecret ? secrets : config)[name];
    else if (!isSecret) config[name] = value;
    else if (isGoodSecret(value)) secrets[name] = value;
    else errors.add(`config.${name}`, `must be a string of 1 to ${MAX_SECRET} characters`);
  }
  judgeConfig(kind, { config, secrets }, errors);
  return { config, secrets };
}

/** The configuration that the connector works with: fields that are not set have their defaults. */
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
  validFields(givenSchema(kind.config as TObject), config, found);
  const unknown = unknownFields(kind.config as TObject, config, Object.keys(kind.secrets));
  for (const [field, reason] of Object.entries(unknown)) found.add(field, reason);
  noteRest(kind, config, found);
  if (found.isEmpty()) {
    for (const [field, reason] of Object.entries(kind.problems?.({ config, secrets }) ?? {}))
      found.add(field, reason);
  }
  for (const [field, reason] of Object.entries(found.list())) errors.add(`config.${field}`, reason);
}

/** The schema for what a body gives: it may leave out fields that have a default. */
function givenSchema(schema: TObject): TObject {
  const hasDefault = (name: string) => "default" in (schema.properties[name] ?? {});
  return {
    ...schema,
    required: (schema.required ?? []).filter((name: string) => !hasDefault(name)),
  } as TObject;
}

/** Notes what only the full schema finds, for fields that have no problem yet. */
function noteRest(kind: ConnectorKind, config: Record<string, unknown>, errors: ErrorCollector): void {
  const full = withDefaults(kind, config);
  if (Value.Check(kind.config, full)) return;
  const reported = Object.keys(errors.list());
  for (const { instancePath, message } of Value.Errors(kind.config, full)) {
    const field = instancePath.slice(1).replaceAll("/", ".");
    if (reported.some((other) => isWithin(other, field) || isWithin(field, other))) continue;
    errors.add(field || "config", message);
  }
}

/** Whether `field` is `whole` or inside it. The empty name is the whole configuration. */
function isWithin(field: string, whole: string): boolean {
  return whole === "" || field === whole || field.startsWith(`${whole}.`);
}
