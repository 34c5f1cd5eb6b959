import Type from "typebox";

/** In the configuration of connectors: an operator's own error codes, by DLT scrub code. */
export const OWN_DLT_CODES = Type.Record(
  Type.String({ maxLength: 32 }),
  Type.String({ pattern: "^\\d{3}$" }),
  {
    default: {},
    description: "What this provider's own error codes mean, by DLT scrub code, for example 5308: 633",
  },
);
