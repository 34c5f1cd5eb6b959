import type { IdentifyRequest } from "../../../core/push/push-registration.ts";
import type { Database } from "../database/database.ts";
import { createContactRemoval } from "./push-contacts.ts";

/** Moves a device to a contact, inside a transaction. `undefined`: there is no such device, or no such contact. */
export function createIdentify(db: Database): (request: IdentifyRequest) => string | undefined {
  const byId = db.prepare<ContactRow>("SELECT id, external_id FROM contacts WHERE id = ? AND account_id = ?");
  const byExternalId = db.prepare<ContactRow>(
    "SELECT id, external_id FROM contacts WHERE external_id = ? AND account_id = ?",
  );
  const registered = db.prepare<{ contact_id: string }>(
    "SELECT contact_id FROM registrations WHERE account_id = ? AND device_id = ?",
  );
  const move = db.prepare(
    "UPDATE registrations SET contact_id = ?, updated_at = ? WHERE account_id = ? AND device_id = ? AND contact_id <> ?1",
  );
  const removeEmptied = createContactRemoval(db);

  const target = ({ accountId, contactId, externalId }: IdentifyRequest): ContactRow | undefined => {
    if (contactId === undefined) {
      return externalId === undefined ? undefined : byExternalId.get(externalId, accountId);
    }
    const contact = byId.get(contactId, accountId);
    return externalId === undefined || contact?.external_id === externalId ? contact : undefined;
  };

  return (request) => {
    const { accountId, deviceId, now } = request;
    const contact = target(request);
    const before = registered.all(accountId, deviceId);
    if (!contact || before.length === 0) return undefined;
    move.run(contact.id, now, accountId, deviceId);
    const left = new Set(before.map((row) => row.contact_id));
    for (const id of left) removeEmptied(id);
    return contact.id;
  };
}

interface ContactRow {
  readonly id: string;
  readonly external_id: string | null;
}
