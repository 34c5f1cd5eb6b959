/** Devices that register and say whose they are, by dice. */
import { ID_MARKS } from "../../src/core/push/push-registration.ts";
import { ask, type Ground } from "./engine-ground.ts";

const DEVICES = ["d-1", "d-2", "d-3"];
const TOKENS = ["t-1", "t-2", "t-3"];
const PERSONS = ["person-1", "person-2"];

/** What devices and contacts belong to. */
export async function layApp(ground: Pick<Ground, "stores" | "id" | "accountId" | "clock">): Promise<string> {
  const { accountId, clock } = ground;
  const app = { id: ground.id(), accountId, name: "app", platforms: ["fcm"] as const, createdAt: clock.now };
  await ask(ground, (store) => store.records.create("pushApps", app));
  for (const externalId of PERSONS) {
    const contact = { id: ground.id(), accountId, externalId, createdAt: clock.now };
    await ask(ground, (store) => store.records.create("contacts", contact));
  }
  return app.id;
}

export async function registerDevice(ground: Ground): Promise<unknown> {
  const { dice, clock, accountId, appId } = ground;
  const device = {
    accountId,
    appId,
    platform: "fcm" as const,
    token: dice.oneOf(TOKENS),
    ...(dice.chance(0.7) && { deviceId: dice.oneOf(DEVICES) }),
    registrationId: ground.id(),
    contactId: ground.id(),
    now: clock.now,
    answer: { status: 200, body: `${ID_MARKS.registrationId} ${ID_MARKS.contactId}` },
  };
  const [answer] = await ask(ground, (store) => store.push.register(device));
  return answer.kind === "done";
}

export async function identifyUser(ground: Ground): Promise<unknown> {
  const { dice, clock, accountId } = ground;
  const request = {
    accountId,
    deviceId: dice.oneOf(DEVICES),
    externalId: dice.oneOf([...PERSONS, "nobody"]),
    now: clock.now,
    answer: { status: 200, body: ID_MARKS.contactId },
  };
  const [answer] = await ask(ground, (store) => store.push.identify(request));
  return answer.kind === "done";
}
