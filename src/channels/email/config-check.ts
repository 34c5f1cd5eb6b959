import type { Static, TObject } from "typebox";
import { Compile } from "typebox/schema";

/** Checks whether a configuration fits the schema, which is compiled at the first use: a start would take milliseconds longer for it. */
export function createConfigCheck<Schema extends TObject>(schema: Schema) {
  let validator: { Check(value: unknown): boolean } | undefined;
  return (config: unknown): config is Static<Schema> => {
    validator ??= Compile(schema);
    return validator.Check(config);
  };
}
