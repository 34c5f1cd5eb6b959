/** Schemas of the fields that several resources share in request bodies. Code judges what a schema could not report in a clear sentence. */
import Type from "typebox";
import { DLT_STATUSES } from "../../core/dlt/dlt-registry.ts";

export const givenFields = {
  account_id: Type.String({ minLength: 1, maxLength: 64, description: "Id of the account" }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  dlt_template_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  dlt_entity_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  status: Type.Optional(
    Type.Enum(DLT_STATUSES, {
      type: "string",
      description: "What the DLT portal says: only what is `approved`, or absent, may send to Indian numbers",
    }),
  ),
};
