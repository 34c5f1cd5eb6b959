/** Devices of an app, and ways to register and identify them while one is held in the middle of its transaction. */
import type { Idempotency } from "../../../core/messages/accept-request.ts";
import { type DeviceRegistration, ID_MARKS } from "../../../core/push/push-registration.ts";
import type { PushStore, Store } from "../../store.ts";
import { openDriver } from "../database/driver.ts";
import { type Race, waiting } from "../database/race.contract.ts";

export const APP = "app-1";
export const OTHER_APP = "app-2";

/** The contacts of `d1`, `d2` and `d3`. */
export async function threeDevices(world: Race): Promise<[string, string, string]> {
  const { store, account, clock } = world;
  const app = { accountId: account.id, name: "app", platforms: ["fcm" as const], createdAt: clock.now };
  for (const id of [APP, OTHER_APP]) await store.records.create("pushApps", { ...app, id });
  const contactIds: string[] = [];
  for (const deviceId of ["d1", "d2", "d3"]) {
    contactIds.push(await register(world, store, { deviceId, token: `token of ${deviceId}` }));
  }
  return contactIds as [string, string, string];
}

/** A contact, by its id, or a device's registrations. */
type Held = { readonly contacts: string } | { readonly registrations: string };

/**
 * Starts two calls while nobody can change what is held, the second when the first waits (`isWaiting`), lets them go on
 * when the second waits too, or has ended, and gives what they come to.
 */
export async function heldAt(
  { url }: Race,
  held: Held,
  start: (isWaiting: () => Promise<void>) => readonly [Promise<string>, Promise<string>],
): Promise<readonly string[]> {
  const driver = openDriver({ url });
  try {
    const calls: Promise<string>[] = [];
    await driver.hold(async (stranger) => {
      await stranger.exec("BEGIN");
      await ("contacts" in held
        ? stranger.query("SELECT 1 FROM contacts WHERE id = $1 FOR UPDATE", [held.contacts])
        : stranger.query("SELECT 1 FROM registrations WHERE device_id = $1 FOR UPDATE", [
            held.registrations,
          ]));
      calls.push(...start(() => waiting(driver, 1)));
      await Promise.race([waiting(driver, 2), calls[1]]);
      await stranger.exec("COMMIT");
    });
    return await Promise.all(calls);
  } finally {
    await driver.close();
  }
}

export const answer = { status: 200, body: ID_MARKS.contactId };

export async function register(
  { id, account, clock }: Race,
  store: Pick<Store, "push">,
  {
    key,
    ...device
  }: Pick<DeviceRegistration, "deviceId" | "token"> & {
    readonly appId?: string;
    readonly key?: Idempotency;
  },
): Promise<string> {
  const ids = { registrationId: id(), contactId: id(), accountId: account.id, appId: APP };
  const whole = { ...ids, ...device, platform: "fcm" as const, now: clock.now, answer };
  return contactIn(await store.push.register(whole, key));
}

export async function identify(
  { account, clock }: Race,
  store: Pick<Store, "push">,
  who: { readonly deviceId: string; readonly contactId: string },
): Promise<string> {
  return contactIn(await store.push.identify({ ...who, accountId: account.id, now: clock.now, answer }));
}

function contactIn(done: Awaited<ReturnType<PushStore["identify" | "register"]>>): string {
  if (!("answer" in done)) throw new Error(`there is no such contact, device or app: ${done.kind}`);
  return done.answer.body;
}

export async function contactOf({ url }: Race, deviceId: string): Promise<string | undefined> {
  const driver = openDriver({ url });
  try {
    const sql = "SELECT contact_id FROM registrations WHERE device_id = $1";
    return (await driver.query<{ contact_id: string }>(sql, [deviceId]))[0]?.contact_id;
  } finally {
    await driver.close();
  }
}

/** The token of each device. */
export async function tokensOf({ url }: Race): Promise<Readonly<Record<string, string | null>>> {
  const driver = openDriver({ url });
  try {
    const rows = await driver.query<{ device_id: string; token: string | null }>(
      "SELECT device_id, token FROM registrations",
    );
    return Object.fromEntries(rows.map(({ device_id, token }) => [device_id, token]));
  } finally {
    await driver.close();
  }
}

/** Ids of contacts that have no registration. */
export async function contactsWithout({ url }: Race): Promise<readonly string[]> {
  const driver = openDriver({ url });
  try {
    const sql = `SELECT id FROM contacts WHERE NOT EXISTS (
      SELECT 1 FROM registrations WHERE registrations.contact_id = contacts.id)`;
    return (await driver.query<{ id: string }>(sql)).map(({ id }) => id);
  } finally {
    await driver.close();
  }
}
