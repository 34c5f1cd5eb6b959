/** What the push endpoints answer. */
import Type from "typebox";

const contactId = (description: string) => Type.String({ description });

export const Registration = Type.Object(
  {
    registration_id: Type.String({ description: "Unique registration identifier of the device" }),
    contact_id: contactId("Contact associated with the device"),
  },
  { title: "DeviceRegistration" },
);

export const IdentificationResult = Type.Object(
  {
    contact_id: contactId("Resolved contact id of the identified user"),
    identified: Type.Literal(true, { description: "Always `true` on success" }),
  },
  { title: "IdentificationResult" },
);

export function registeredJson(ids: { readonly registrationId: string; readonly contactId: string }): string {
  return JSON.stringify({ registration_id: ids.registrationId, contact_id: ids.contactId });
}

export function identifiedJson(contactId: string): string {
  return JSON.stringify({ contact_id: contactId, identified: true });
}
