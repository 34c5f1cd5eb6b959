import type { TSchema } from "typebox";
import type { ConnectorKind } from "../src/channels/channel.ts";

/** A page with a table of fields for each kind of connector. */
export function connectorsPage(kinds: readonly ConnectorKind[]): string {
  return ["# Connectors", INTRODUCTION, ...kinds.map(section)].join("\n\n").concat("\n");
}

const INTRODUCTION = `Generated from the schemas of the connector kinds.

Each field is an option of \`connectors create\` and \`connectors update\`, with dashes instead of underscores: \`system_id\` is
\`--system-id\`. Over HTTP the fields are the members of \`config\`. Set secrets like fields; they are stored encrypted and never shown again.`;

interface FieldSchema {
  readonly type?: string;
  readonly anyOf?: readonly { readonly const?: unknown }[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

function section({ kind, channel, config, secrets }: ConnectorKind): string {
  const { properties = {}, required = [] } = config as TSchema & {
    properties?: Record<string, FieldSchema>;
    required?: readonly string[];
  };
  const rows = Object.entries(properties).map(([name, field]) => {
    const fallback =
      "default" in field
        ? `\`${JSON.stringify(field.default)}\``
        : required.includes(name)
          ? "required"
          : "unset";
    return `| \`${name}\` | ${typeOf(field)} | ${fallback} | ${field.description ?? ""} |`;
  });
  const secretRows = Object.entries(secrets).map(
    ([name, meaning]) => `| \`${name}\` | secret | unset | ${meaning} |`,
  );
  const heads = ["| Field | Type | Default | Meaning |", "|---|---|---|---|"];
  return [`## ${kind} (${channel})`, [...heads, ...rows, ...secretRows].join("\n")].join("\n\n");
}

function typeOf(field: FieldSchema): string {
  const words = field.enum ?? field.anyOf?.map((one) => one.const);
  if (words) return words.map((word) => `\`${word}\``).join(", ");
  const { minimum, maximum, maxLength } = field;
  if (minimum === undefined && maximum !== undefined) return `${field.type}, at most ${maximum}`;
  if (minimum !== undefined) return `${field.type}, ${minimum} to ${maximum ?? "any"}`;
  return maxLength === undefined ? String(field.type) : `${field.type}, at most ${maxLength} characters`;
}
