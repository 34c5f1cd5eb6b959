/** Options of routes: which messages a route is for, and the connectors it names. */
import { UsageFailure } from "../commands/command-failure.ts";
import type { Row } from "./command-line.ts";
import type { OptionRow } from "./option-rows.ts";

export const ROUTE_ROWS: readonly OptionRow[] = [
  { flags: "--match <prefix>", field: "match", meaning: "digits or a domain; none: all", mayBeEmpty: true },
  {
    flags: "--sender <sender>",
    field: "sender",
    meaning: "only of this sender id, or From domain; none: any",
  },
  {
    flags: "--category <category>",
    field: "category",
    meaning: "only of templates that are transactional, service_implicit, service_explicit or promotional",
  },
  {
    flags: "--connector <id[=weight]>",
    field: "connectors",
    meaning: "the connectors in the order they are tried; neighbours with weights share the messages",
    isList: true,
    parse: readConnector,
  },
  {
    flags: "--failover <policy>",
    field: "failover",
    meaning: "safe (the default), or always: retry over another connector even what this one may have sent",
  },
];

function readConnector(written: string): object {
  const [, id = "", weight] = /^([^=]+)(?:=(\d+))?$/.exec(written) ?? [];
  if (id === "") throw new UsageFailure(`"${written}" is no connector: write its id, or id=weight`);
  return { connector_id: id, ...(weight !== undefined && { weight: Number(weight) }) };
}

/** The connectors of a route as `--connector` takes them: `id`, or `id=weight`. */
export function writtenConnectors({ connectors }: Row): readonly string[] {
  const written = connectors as readonly { readonly connector_id: string; readonly weight?: number }[];
  return written.map(({ connector_id: id, weight }) => (weight === undefined ? id : `${id}=${weight}`));
}
