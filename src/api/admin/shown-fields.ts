/** Schemas of the fields that several resources share in answers. In answers, fields that are `undefined` are absent. */
import Type from "typebox";
import { toIso } from "../../core/time/timestamp.ts";

export const shownFields = {
  id: Type.String({ format: "uuid" }),
  account_id: Type.String({ format: "uuid" }),
  created_at: Type.String({ format: "date-time" }),
};

/** A time, if there is one. */
export function shownTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : toIso(ms);
}
