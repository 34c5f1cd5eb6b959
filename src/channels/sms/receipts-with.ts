import Type from "typebox";

/** In the configuration of connectors: others that receipts about its messages may come over. */
export const RECEIPTS_WITH = Type.Array(
  Type.String({ pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" }),
  {
    default: [],
    maxItems: 20,
    description:
      "Ids of other connectors, also deleted ones, of the same account at the provider: a receipt that comes over one of " +
      "them may be about a message of another",
  },
);
