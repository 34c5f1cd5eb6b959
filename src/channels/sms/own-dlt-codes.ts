import Type from "typebox";

/** In the configuration of connectors: an operator's own error codes, by DLT scrub code. */
export const OWN_DLT_CODES = Type.Record(
  Type.String({ maxLength: 32 }),
  Type.String({ pattern: "^\\d{3}$" }),
  {
    default: {},
    description: "Maps this provider's own error codes to DLT scrub codes, for example 5308: 633",
  },
);
