import type { Session } from "../database/driver.ts";

export interface ContactRow {
  readonly id: string;
  readonly external_id: string | null;
}

/**
 * Locks contacts, and returns them as they are then. Waits for transactions that are moving a device to one of them: the next
 * statement sees what they did. Locks in the order of the ids and with one kind of lock, so that no two transactions that lock
 * contacts wait for each other.
 */
export function lockContacts(session: Session, ids: readonly string[]): Promise<readonly ContactRow[]> {
  return session.query<ContactRow>(
    "SELECT id, external_id FROM contacts WHERE id = ANY($1) ORDER BY id FOR UPDATE",
    [ids],
  );
}

/** Removes those of the contacts that are anonymous and have no registration left. The caller has locked them. */
export async function removeEmptied(session: Session, contactIds: readonly string[]): Promise<void> {
  if (contactIds.length === 0) return;
  await session.query(
    `DELETE FROM contacts c WHERE c.id = ANY($1) AND c.external_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM registrations r WHERE r.contact_id = c.id OFFSET 0)`,
    [contactIds],
  );
}
