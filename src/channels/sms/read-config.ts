import type { Static, TObject } from "typebox";
import { Value } from "typebox/value";
import type { Connector } from "../../core/records/accounts.ts";

/** The connector's configuration, defaults filled in; an error in words where it does not fit the schema. */
export function readConfig<Schema extends TObject>(
  schema: Schema,
  connector: Pick<Connector, "name" | "config">,
): Static<Schema> | Error {
  const config = Value.Clean(schema, Value.Default(schema, Value.Clone(connector.config)));
  if (Value.Check(schema, config)) return config;
  const problems = Value.Errors(schema, config).map((e) => `${e.instancePath || "/"} ${e.message}`);
  return new Error(`the configuration of connector ${connector.name} is invalid: ${problems.join("; ")}`);
}
