/** Schemas of the fields that several resources share in answers. */
import Type from "typebox";

export const shownFields = {
  id: Type.String({ format: "uuid" }),
  account_id: Type.String({ format: "uuid" }),
  created_at: Type.String({ format: "date-time" }),
};
