import type { Session } from "../database/driver.ts";

/** Removes those of the contacts that are anonymous and have no registration left. */
export async function removeEmptied(session: Session, contactIds: readonly string[]): Promise<void> {
  // Waits for transactions that are moving a device to one of them: the next statement sees what they did.
  await session.query(
    "SELECT 1 FROM contacts WHERE id = ANY($1) AND external_id IS NULL ORDER BY id FOR UPDATE",
    [contactIds],
  );
  await session.query(
    `DELETE FROM contacts c WHERE c.id = ANY($1) AND c.external_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM registrations r WHERE r.contact_id = c.id)`,
    [contactIds],
  );
}
