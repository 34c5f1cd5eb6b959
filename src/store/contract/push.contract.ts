import { expect, test } from "bun:test";
import type {
  AppGone,
  DeviceRegistration,
  IdentifyRequest,
  PushAnswer,
} from "../../core/push/push-registration.ts";
import type { Contact, PushApp } from "../../core/records/accounts.ts";
import { inWorld, type OpenStore, type World } from "./world.contract.ts";

export function pushContract(open: OpenStore): void {
  test(
    "a known device keeps its registration and contact, and takes the new token",
    inPushWorld(open, async ({ register }) => {
      const first = await register({ deviceId: "d-1", token: "t-1" });
      expect(await register({ deviceId: "d-1", token: "t-2" })).toEqual(first);
      expect(await register({ token: "t-2" })).toEqual(first);
      const other = await register({ deviceId: "d-2", token: "t-1" });
      expect(other.registrationId).not.toBe(first.registrationId);
      expect(other.contactId).not.toBe(first.contactId);
    }),
  );

  test(
    "without a device id the token is what is known",
    inPushWorld(open, async ({ register }) => {
      const first = await register({ token: "t-1" });
      expect(await register({ token: "t-1" })).toEqual(first);
      expect(await register({ token: "t-2" })).not.toEqual(first);
    }),
  );

  test(
    "a token as long as one may be is known again, whatever it is made of",
    inPushWorld(open, async ({ register }) => {
      // Nothing that a store could make shorter, four octets a character.
      const token = Array.from({ length: 4_096 }, (_, index) =>
        String.fromCodePoint(0x10000 + ((index * 7_919) % 0xffff)),
      ).join("");
      const first = await register({ token });
      expect(await register({ token })).toEqual(first);
      expect(await register({ token: `${token.slice(0, -2)}x` })).not.toEqual(first);
    }),
  );

  test(
    "a registration made without a device id takes on the first device id that comes with its token",
    inPushWorld(open, async ({ register }) => {
      const first = await register({ token: "t-1" });
      expect(await register({ token: "t-1", deviceId: "d-1" })).toEqual(first);
      expect(await register({ token: "t-9", deviceId: "d-1" })).toEqual(first);
    }),
  );

  test(
    "a device that registers without its device id is still that device",
    inPushWorld(open, async ({ register, identify }) => {
      const { contactId } = await register({ deviceId: "d-1", token: "t-1" });
      await register({ token: "t-1" });
      expect(await identify({ contactId })).toBe(contactId);
    }),
  );

  test(
    "a token belongs to one registration at a time, and a device that lost it is still known",
    inPushWorld(open, async ({ register }) => {
      const first = await register({ deviceId: "d-1", token: "t-1" });
      const second = await register({ deviceId: "d-2", token: "t-1" });
      expect(second.registrationId).not.toBe(first.registrationId);
      expect(await register({ token: "t-1" })).toEqual(second);
      expect(await register({ deviceId: "d-1", token: "t-3" })).toEqual(first);
    }),
  );

  test(
    "a registration that only its token could find goes when a known device takes the token, with its contact",
    inPushWorld(open, async ({ register, store }) => {
      const device = await register({ deviceId: "d-1", token: "t-1" });
      const bare = await register({ token: "t-2" });
      expect(await register({ deviceId: "d-1", token: "t-2" })).toEqual(device);
      expect(await store.records.find("contacts", { id: bare.contactId })).toBeUndefined();
    }),
  );

  test(
    "the same device and token in another app are another registration",
    inPushWorld(open, async ({ register, addApp }) => {
      const first = await register({ deviceId: "d-1", token: "t-1" });
      const other = await addApp();
      const second = await register({ deviceId: "d-1", token: "t-1", appId: other.id });
      expect(second.registrationId).not.toBe(first.registrationId);
      expect(await register({ deviceId: "d-1", token: "t-1" })).toEqual(first);
    }),
  );

  test(
    "identifying moves all registrations of the device and removes the emptied anonymous contact",
    inPushWorld(open, async ({ register, identify, addContact, addApp, store }) => {
      const anonymous = await register({ deviceId: "d-1", token: "t-1" });
      const elsewhere = await register({ deviceId: "d-1", token: "t-1", appId: (await addApp()).id });
      const contact = await addContact("user-7");
      expect(await identify({ externalId: "user-7" })).toBe(contact.id);
      expect(await register({ deviceId: "d-1", token: "t-1" })).toEqual({
        ...anonymous,
        contactId: contact.id,
      });
      expect(await store.records.find("contacts", { id: anonymous.contactId })).toBeUndefined();
      expect(await store.records.find("contacts", { id: elsewhere.contactId })).toBeUndefined();
    }),
  );

  test(
    "identifying again is harmless, and an identified contact stays when its device moves on",
    inPushWorld(open, async ({ register, identify, addContact, store }) => {
      await register({ deviceId: "d-1", token: "t-1" });
      const [one, two] = [await addContact("user-1"), await addContact("user-2")];
      expect(await identify({ contactId: one.id })).toBe(one.id);
      expect(await identify({ contactId: one.id, externalId: "user-1" })).toBe(one.id);
      expect(await identify({ contactId: two.id })).toBe(two.id);
      expect(await store.records.find("contacts", { id: one.id })).toEqual(one);
    }),
  );

  test(
    "the device's own anonymous contact may be the target",
    inPushWorld(open, async ({ register, identify }) => {
      const { contactId } = await register({ deviceId: "d-1", token: "t-1" });
      expect(await identify({ contactId })).toBe(contactId);
    }),
  );

  test(
    "an anonymous contact stays while another device is its own",
    inPushWorld(open, async ({ register, identify, addContact, store }) => {
      const { contactId } = await register({ deviceId: "d-1", token: "t-1" });
      await register({ deviceId: "d-2", token: "t-2" });
      await identify({ deviceId: "d-2", contactId });
      await addContact("user-1");
      await identify({ deviceId: "d-1", externalId: "user-1" });
      expect(await store.records.find("contacts", { id: contactId })).toBeDefined();
    }),
  );

  test(
    "unknown devices, contacts and external ids, and a pair that does not match, find no contact",
    inPushWorld(open, async ({ register, identify, addContact, addAccount, id, account }) => {
      await register({ deviceId: "d-1", token: "t-1" });
      const contact = await addContact("user-1");
      const other = await addAccount();
      expect(await identify({ deviceId: "d-9", contactId: contact.id })).toBe("contact_not_found");
      expect(await identify({ contactId: id() })).toBe("contact_not_found");
      expect(await identify({ externalId: "user-9" })).toBe("contact_not_found");
      expect(await identify({ contactId: contact.id, externalId: "user-9" })).toBe("contact_not_found");
      expect(await identify({ accountId: other.id, contactId: contact.id })).toBe("contact_not_found");
      expect(await identify({ accountId: account.id, contactId: contact.id })).toBe(contact.id);
    }),
  );

  test(
    "a contact is deleted with its devices, which register anew as strangers; those of others stay",
    inPushWorld(open, async ({ register, identify, addContact, store, account }) => {
      const first = await register({ deviceId: "d-1", token: "t-1" });
      const other = await register({ deviceId: "d-2", token: "t-2" });
      const { id } = await addContact("user-1");
      await identify({ contactId: id });
      expect(await store.records.remove("contacts", id)).toBe(true);
      expect(await store.records.remove("contacts", id)).toBe(false);
      const again = await register({ deviceId: "d-1", token: "t-1" });
      expect(again.registrationId).not.toBe(first.registrationId);
      expect(await register({ deviceId: "d-2", token: "t-2" })).toEqual(other);
      const left = await store.records.list("contacts", { accountId: account.id }, { limit: 10 });
      expect(left.map((contact) => contact.id)).toEqual([other.contactId, again.contactId]);
    }),
  );

  test(
    "an app is in use while a device is registered with it, and goes once the contacts have gone",
    inPushWorld(open, async ({ register, addApp, store }) => {
      const app = await addApp();
      const { contactId } = await register({ appId: app.id, deviceId: "d-1", token: "t-1" });
      expect(await store.records.remove("pushApps", app.id)).toBe("in_use");
      expect(await store.records.remove("contacts", contactId)).toBe(true);
      expect(await store.records.remove("pushApps", app.id)).toBe(true);
    }),
  );

  test(
    "a device of an app that has been deleted is not registered, and leaves no contact",
    inPushWorld(open, async ({ store, account, device, addApp, key }) => {
      const gone = await addApp();
      await store.records.remove("pushApps", gone.id);
      const late = device({ appId: gone.id, deviceId: "d-1" });
      expect(await store.push.register(late, key("k"))).toEqual({ kind: "app_not_found" });
      const contacts = await store.records.list("contacts", { accountId: account.id }, { limit: 10 });
      expect(contacts).toEqual([]);
      expect(await store.intake.savedAnswer(key("k"))).toBeUndefined();
    }),
  );

  test(
    "a key replays the first answer of both operations, and a refusal is not saved under it",
    inPushWorld(open, async ({ store, device, key, register, addContact, account, clock }) => {
      const first = answered(await store.push.register(device({ token: "t-1", deviceId: "d-1" }), key("k")));
      const again = await store.push.register(device({ token: "t-2", deviceId: "d-2" }), key("k"));
      expect(first.kind).toBe("done");
      expect(again).toEqual({ kind: "replay", answer: { ...first.answer, bodyDigest: "d".repeat(64) } });
      expect((await register({ token: "t-2" })).registrationId).not.toBe(
        idsOf(first.answer.body).registrationId,
      );

      const request: IdentifyRequest = {
        accountId: account.id,
        deviceId: "d-1",
        externalId: "user-1",
        now: clock.now,
        answer: { status: 200, body: "{contact_id}" },
      };
      expect(await store.push.identify(request, key("i"))).toEqual({ kind: "contact_not_found" });
      const contact = await addContact("user-1");
      expect((await store.push.identify(request, key("i"))).kind).toBe("done");
      expect(await store.push.identify(request, key("i"))).toMatchObject({
        kind: "replay",
        answer: { status: 200, body: contact.id },
      });
    }),
  );
}

interface Ids {
  readonly registrationId: string;
  readonly contactId: string;
}

interface PushWorld extends World {
  device(over: Partial<DeviceRegistration>): DeviceRegistration;
  register(over: Partial<DeviceRegistration>): Promise<Ids>;
  /** Device `d-1`, unless said otherwise; the contact's id, or `contact_not_found`. */
  identify(over: Partial<IdentifyRequest>): Promise<string>;
  addApp(): Promise<PushApp>;
  addContact(externalId: string): Promise<Contact>;
}

function inPushWorld(open: OpenStore, run: (world: PushWorld) => Promise<void>): () => Promise<void> {
  return inWorld(open, async (world) => {
    const { store, account, id, clock } = world;
    const addApp = async () => {
      const app: PushApp = {
        id: id(),
        accountId: account.id,
        name: "app",
        platforms: ["fcm"],
        createdAt: clock.now,
      };
      await store.records.create("pushApps", app);
      return app;
    };
    const app = await addApp();
    const device: PushWorld["device"] = (over) => ({
      registrationId: id(),
      contactId: id(),
      accountId: account.id,
      appId: app.id,
      platform: "fcm",
      token: "t",
      now: clock.now,
      answer: {
        status: 201,
        body: JSON.stringify({ registrationId: "{registration_id}", contactId: "{contact_id}" }),
      },
      ...over,
    });
    await run({
      ...world,
      addApp,
      device,
      register: async (over) => idsOf(answered(await store.push.register(device(over))).answer.body),
      async identify(over) {
        const answer = { status: 200, body: "{contact_id}" };
        const request = { accountId: account.id, deviceId: "d-1", now: clock.now, answer, ...over };
        const done = await store.push.identify(request);
        return done.kind === "contact_not_found" ? done.kind : done.answer.body;
      },
      async addContact(externalId) {
        const contact = { id: id(), accountId: account.id, externalId, createdAt: clock.now };
        await store.records.create("contacts", contact);
        return contact;
      },
    });
  });
}

function answered(done: PushAnswer | AppGone): PushAnswer {
  if (done.kind === "app_not_found") throw new Error("there is no such app");
  return done;
}

function idsOf(body: string): Ids {
  return JSON.parse(body) as Ids;
}
