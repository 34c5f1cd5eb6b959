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
        "`null` where the recipient was erased: the entry goes on to hold, and is found by the name",
    }),
    erased: Type.Optional(Type.Boolean({ description: "Only `true`; absent where nobody was erased" })),
    digest: Type.Optional(
      Type.String({ description: "`erased:` and 64 hex digits, in the place of who was erased" }),
    ),
  };
}
