import type { Database } from "../database/database.ts";

/** Removes a contact that is anonymous and has no registration left; any other stays. */
export function createContactRemoval(db: Database): (contactId: string) => void {
  const remove = db.prepare(
    `DELETE FROM contacts WHERE id = ?1 AND external_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM registrations WHERE contact_id = ?1)`,
  );
  return (contactId) => void remove.run(contactId);
}
