import type { IdentifyRequest } from "../../../core/push/push-registration.ts";
import type { Session } from "../database/driver.ts";
import { type ContactRow, lockContacts, removeEmptied } from "./push-contacts.ts";

/**
 * Moves a device to a contact, inside a transaction. `undefined`: there is no such device, or no such contact. Locks the
 * device's registrations and then all contacts at once, each in the order of their ids: so however many devices are
 * identified at once, with each other's contacts too, no two of them wait for one another.
 */
export async function identify(session: Session, request: IdentifyRequest): Promise<string | undefined> {
  const { accountId, deviceId, externalId, now } = request;
  const before = await session.query<FoundRow>(FIND_DEVICE, [accountId, deviceId]);
  const target = await findTarget(session, request);
  if (target === undefined || before.length === 0) return undefined;
  const left = before.map((row) => row.contact_id).filter((id) => id !== target);
  if (left.length === 0) return target;
  const locked = await lockContacts(session, [...left, target]);
  const contact = locked.find(({ id }) => id === target);
  // It may have been deleted, or renamed, since it was found.
  if (!contact || (externalId !== undefined && contact.external_id !== externalId)) return undefined;
  await session.query(MOVE, [target, now, before.map((row) => row.id)]);
  await removeEmptied(session, left);
  return target;
}

/** Finds the contact by id, by external id, or by both if they agree. */
async function findTarget(
  session: Session,
  { accountId, contactId, externalId }: IdentifyRequest,
): Promise<string | undefined> {
  if (contactId === undefined && externalId === undefined) return undefined;
  const given = contactId ?? externalId ?? "";
  const [row] = await session.query<ContactRow>(contactId === undefined ? BY_EXTERNAL_ID : BY_ID, [
    accountId,
    given,
  ]);
  return externalId === undefined || row?.external_id === externalId ? row?.id : undefined;
}

/** Two statements, so that each has a plan that uses its index, whatever the values. */
const BY_ID = "SELECT id, external_id FROM contacts WHERE account_id = $1 AND id = $2";
const BY_EXTERNAL_ID = "SELECT id, external_id FROM contacts WHERE account_id = $1 AND external_id = $2";

interface FoundRow {
  readonly id: string;
  readonly contact_id: string;
}

/** In an order that no index has: if the planner takes registrations to be few, it would go through all of them rather than sort these. */
const FIND_DEVICE = `SELECT id, contact_id FROM registrations WHERE account_id = $1 AND device_id = $2
  ORDER BY id || '' FOR NO KEY UPDATE`;

/** Leaves alone a registration that was made since, in another app: its contact would stay, without a registration. */
const MOVE = `UPDATE registrations SET contact_id = $1, updated_at = $2 WHERE id = ANY($3) AND contact_id <> $1`;
