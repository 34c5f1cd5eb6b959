import type { AnswerIds, DeviceRegistration } from "../../../core/push/push-registration.ts";
import { attributesOf, type RegistrationRow } from "../../push/registration-rows.ts";
import type { Database } from "../database/database.ts";
import { createContactRemoval } from "./push-contacts.ts";

/**
 * Finds or makes the registration of a device, inside a transaction. The device id finds it, else the token: a
 * registration that was made without a device id takes it on. `undefined` if the app has been deleted.
 */
export function createRegister(
  db: Database,
): (device: DeviceRegistration) => Required<AnswerIds> | undefined {
  const columns = "id, contact_id, device_id";
  const byDevice = db.prepare<RegistrationRow>(
    `SELECT ${columns} FROM registrations WHERE app_id = ? AND device_id = ?`,
  );
  const byToken = db.prepare<RegistrationRow>(
    `SELECT ${columns} FROM registrations WHERE app_id = ? AND token = ?`,
  );
  const freeToken = createTokenRelease(db);
  const update = db.prepare(
    `UPDATE registrations SET platform = ?, token = ?, device_id = coalesce(?, device_id), os_version = ?,
       app_version = ?, locale = ?, timezone = ?, updated_at = ? WHERE id = ?`,
  );
  const create = createInsert(db);

  return (device) => {
    const holder = byToken.get(device.appId, device.token);
    const known = device.deviceId === undefined ? holder : byDevice.get(device.appId, device.deviceId);
    const adopted = known ?? (holder?.device_id === null ? holder : undefined);
    if (holder && holder.id !== adopted?.id) freeToken(holder);
    if (!adopted) return create(device);
    update.run(...attributesOf(device), adopted.id);
    return { registrationId: adopted.id, contactId: adopted.contact_id };
  };
}

function createInsert(db: Database): (device: DeviceRegistration) => Required<AnswerIds> | undefined {
  const contact = db.prepare(
    `INSERT INTO contacts (id, account_id, created_at)
     SELECT ?, account_id, ? FROM push_apps WHERE id = ? AND account_id = ?`,
  );
  const registration = db.prepare(
    `INSERT INTO registrations (platform, token, device_id, os_version, app_version, locale, timezone,
       updated_at, id, account_id, app_id, contact_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (device) => {
    const { registrationId, contactId, accountId, appId, now } = device;
    if (contact.run(contactId, now, appId, accountId) === 0) return undefined;
    registration.run(...attributesOf(device), registrationId, accountId, appId, contactId, now);
    return { registrationId, contactId };
  };
}

/**
 * Takes the token from its holder. A registration with a device id stays, to be found when the device comes back. One
 * without could never be found again: it is deleted, with its contact if that is anonymous and has no other.
 */
function createTokenRelease(db: Database): (holder: RegistrationRow) => void {
  const clear = db.prepare("UPDATE registrations SET token = NULL WHERE id = ?");
  const remove = db.prepare("DELETE FROM registrations WHERE id = ?");
  const removeEmptied = createContactRemoval(db);
  return (holder) => {
    if (holder.device_id !== null) return void clear.run(holder.id);
    remove.run(holder.id);
    removeEmptied(holder.contact_id);
  };
}
