import type { Static, TObject } from "typebox";
import { Compile } from "typebox/schema";

/** Checks whether a configuration fits the schema. To compile it takes milliseconds, and is left to the first use, not to a start. */
export function createConfigCheck<Schema extends TObject>(schema: Schema) {
  let validator: { Check(value: unknown): boolean } | undefined;
  return (config: unknown): config is Static<Schema> => {
    validator ??= Compile(schema);
    return validator.Check(config);
  };
}
