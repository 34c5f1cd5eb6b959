/** Fields that the configurations of connectors for SMS have in common. */
import Type from "typebox";

/** An operator's own error codes, by DLT scrub code. */
export const OWN_DLT_CODES = Type.Record(
  Type.String({ maxLength: 32 }),
  Type.String({ pattern: "^\\d{3}$", examples: ["633"] }),
  {
    default: {},
    description: "Maps this provider's own error codes to DLT scrub codes, for example 5308: 633",
  },
);

/** Other connectors that receipts about this one's messages may come over. */
export const RECEIPTS_WITH = Type.Array(
  Type.String({
    pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    examples: ["01a1fe47-d900-7336-aaba-2350b1b7f3a7"],
  }),
  {
    default: [],
    maxItems: 20,
    description:
      "Ids of other connectors, also deleted ones, of the same account at the provider: a receipt that comes over one of " +
      "them may be about a message of another",
  },
);

export function milliseconds(
  byDefault: number,
  range: { readonly minimum: number; readonly maximum: number },
  description: string,
) {
  return Type.Integer({ default: byDefault, ...range, description });
}
