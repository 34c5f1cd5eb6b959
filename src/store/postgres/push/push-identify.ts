import type { IdentifyRequest } from "../../../core/push/push-registration.ts";
import type { Session } from "../database/driver.ts";
import { removeEmptied } from "./push-contacts.ts";

/** Moves a device to a contact, inside a transaction. `undefined`: there is no such device, or no such contact. */
export async function identify(session: Session, request: IdentifyRequest): Promise<string | undefined> {
  const { accountId, deviceId, now } = request;
  const contactId = await findTarget(session, request);
  if (contactId === undefined) return undefined;
  const before = await session.query<FoundRow>(FIND_DEVICE, [accountId, deviceId]);
  if (before.length === 0) return undefined;
  await session.query(MOVE, [contactId, now, before.map((row) => row.id)]);
  await removeEmptied(
    session,
    before.map((row) => row.contact_id),
  );
  return contactId;
}

/** Finds the contact by id, by external id, or by both if they agree, and keeps it from being deleted meanwhile. */
async function findTarget(
  session: Session,
  { accountId, contactId, externalId }: IdentifyRequest,
): Promise<string | undefined> {
  if (contactId === undefined && externalId === undefined) return undefined;
  const [row] = await session.query<{ id: string }>(
    `SELECT id FROM contacts WHERE account_id = $1 AND ($2::text IS NULL OR id = $2)
       AND ($3::text IS NULL OR external_id = $3) FOR KEY SHARE`,
    [accountId, contactId ?? null, externalId ?? null],
  );
  return row?.id;
}

interface FoundRow {
  readonly id: string;
  readonly contact_id: string;
}

const FIND_DEVICE = `SELECT id, contact_id FROM registrations WHERE account_id = $1 AND device_id = $2
  ORDER BY id FOR NO KEY UPDATE`;

/** Not one that was made since, in another app: its contact would be left without a registration, and stay. */
const MOVE = `UPDATE registrations SET contact_id = $1, updated_at = $2 WHERE id = ANY($3) AND contact_id <> $1`;
