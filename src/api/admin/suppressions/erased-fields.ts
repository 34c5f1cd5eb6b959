import Type, { type TSchema } from "typebox";
import { isErased } from "../../../core/messages/erasure.ts";

/** The recipient of an entry, under `name`: `null` once the recipient was erased. */
export function showRecipient(name: string, recipient: string): Readonly<Record<string, unknown>> {
  return isErased(recipient) ? { [name]: null, erased: true, digest: recipient } : { [name]: recipient };
}

export function recipientSchema(name: string, recipient: TSchema): Readonly<Record<string, TSchema>> {
  return {
    [name]: Type.Union([recipient, Type.Null()], {
      description:
        "`null` if the recipient was erased: the entry stays in force, and queries for the recipient still find it",
    }),
    erased: Type.Optional(
      Type.Boolean({ description: "`true` if the recipient was erased; absent otherwise" }),
    ),
    digest: Type.Optional(
      Type.String({ description: "`erased:` and 64 hex digits, in place of the erased recipient" }),
    ),
  };
}
