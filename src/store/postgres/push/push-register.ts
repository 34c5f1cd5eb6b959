import type { AnswerIds, DeviceRegistration } from "../../../core/push/push-registration.ts";
import { attributesOf, type RegistrationRow } from "../../push/registration-rows.ts";
import type { Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { lockNames } from "../database/name-locks.ts";
import type { Transaction } from "../database/transactions.ts";
import { lockContacts, removeEmptied } from "./push-contacts.ts";

interface FoundRow extends RegistrationRow {
  readonly token: string | null;
}

/**
 * Finds or makes the registration of a device, inside a transaction. The device id finds it, else the token: a
 * registration that was made without a device id takes it on. `undefined` if the app has been deleted.
 */
export async function register(
  session: Transaction,
  device: DeviceRegistration,
): Promise<Required<AnswerIds> | undefined> {
  const { appId, deviceId, token } = device;
  lockDevice(session, device);
  const rows = await session.query<FoundRow>(FIND, [appId, deviceId ?? null, token]);
  const holder = rows.find((row) => row.token === token);
  const known = deviceId === undefined ? holder : rows.find((row) => row.device_id === deviceId);
  const adopted = known ?? (holder?.device_id === null ? holder : undefined);
  const isTaken = holder !== undefined && holder.id !== adopted?.id;
  if (isTaken) await freeToken(session, holder);
  const ids = await (adopted ? update(session, device, adopted) : create(session, device));
  // Last, since `identify` too locks registrations before contacts.
  if (isTaken && holder.device_id === null) await leaveContact(session, holder.contact_id);
  return ids;
}

/** Keeps out other registrations of the device, and of the token, until the transaction ends. */
function lockDevice(session: Transaction, { appId, deviceId, token }: DeviceRegistration): void {
  session.run(LOCK_APP, [LOCKS.registering, appId]);
  const ofDevice = deviceId === undefined ? [] : [JSON.stringify([appId, "device", deviceId])];
  const names = new Set([...ofDevice, JSON.stringify([appId, "token", token])]);
  lockNames(session, { family: LOCKS.devices, names });
}

/** Processes of an earlier version lock the whole app. */
const LOCK_APP = "SELECT pg_advisory_xact_lock_shared($1, hashtext($2))";

/**
 * Locks what it finds in the order of ids, as `identify` does: so two devices that exchange tokens do not wait for each other. A
 * row may have another token by the time it is locked.
 */
const FIND = `SELECT id, contact_id, device_id, token FROM registrations
  WHERE id = ANY(ARRAY(
    SELECT id FROM registrations WHERE app_id = $1 AND device_id = $2
    UNION ALL SELECT id FROM registrations
      WHERE app_id = $1 AND hashtextextended(token, 0) = hashtextextended($3, 0) AND token = $3))
  ORDER BY id || '' FOR NO KEY UPDATE`;

const UPDATE = `UPDATE registrations SET platform = $1, token = $2, device_id = coalesce($3, device_id),
  os_version = $4, app_version = $5, locale = $6, timezone = $7, updated_at = $8
  WHERE id = $9 RETURNING contact_id`;

/**
 * Takes the token from its holder. A registration with a device id stays, to be found when the device comes back. One
 * without could never be found again: it is deleted, and later its contact (`leaveContact`).
 */
async function freeToken(session: Session, { id, device_id }: RegistrationRow): Promise<void> {
  const sql =
    device_id === null
      ? "DELETE FROM registrations WHERE id = $1"
      : "UPDATE registrations SET token = NULL WHERE id = $1";
  await session.query(sql, [id]);
}

/** Removes a contact if it is anonymous and has no registration left. */
async function leaveContact(session: Session, contactId: string): Promise<void> {
  await lockContacts(session, [contactId]);
  await removeEmptied(session, [contactId]);
}

async function update(
  session: Session,
  device: DeviceRegistration,
  known: RegistrationRow,
): Promise<Required<AnswerIds>> {
  // The contact as it is now: the device may have been identified since it was found.
  const [row] = await session.query<{ contact_id: string }>(UPDATE, [...attributesOf(device), known.id]);
  return { registrationId: known.id, contactId: row?.contact_id ?? known.contact_id };
}

async function create(
  session: Session,
  device: DeviceRegistration,
): Promise<Required<AnswerIds> | undefined> {
  const { registrationId, contactId, accountId, appId } = device;
  const ids = [registrationId, accountId, appId, contactId];
  const made = await session.query(INSERT, [...attributesOf(device), ...ids]);
  return made.length === 0 ? undefined : { registrationId, contactId };
}

/** Inserts nothing if the app is gone. Otherwise locks the app, so that it stays until the registration refers to it. */
const INSERT = `WITH contact AS (
    INSERT INTO contacts (id, account_id, created_at)
    SELECT $12, account_id, $8 FROM push_apps WHERE id = $11 AND account_id = $10 FOR KEY SHARE
    RETURNING id, account_id
  )
  INSERT INTO registrations (platform, token, device_id, os_version, app_version, locale, timezone,
    updated_at, created_at, id, account_id, app_id, contact_id)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $8, $9, account_id, $11, id FROM contact
  RETURNING id`;
