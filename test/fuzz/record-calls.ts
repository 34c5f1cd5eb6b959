/** What operators change, by dice, whatever waits or is being sent meanwhile. Few of each kind, so that one stands in another's way. */
import type { RecordTypes } from "../../src/core/records/accounts.ts";
import type { RecordChanges, SettingChanges, Updated } from "../../src/store/store.ts";
import type { Dice } from "../chaos/dice.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { QUEUES } from "./intake-calls.ts";
import { CONNECTORS, NUMBER } from "./provider-words.ts";

type Drafted =
  | "accounts"
  | "apiKeys"
  | "connectors"
  | "routes"
  | "senders"
  | "smsTemplates"
  | "inboundNumbers";

/** Records with few ids and few values: an operation may find each there, changed or gone. */
const DRAFTS: { readonly [K in Drafted]: (ground: Ground) => RecordTypes[K] } = {
  accounts: ({ dice, accounts, clock }) => ({
    id: dice.oneOf(accounts),
    name: dice.oneOf(["acme", "other"]),
    mode: dice.oneOf(["live", "sandbox"]),
    createdAt: clock.now,
  }),
  apiKeys: ({ dice, accounts, clock }) => ({
    id: dice.oneOf(["k-1", "k-2"]),
    accountId: mostlyFirst(dice, accounts),
    prefix: "pr_live_1234",
    digest: dice.oneOf(DIGESTS),
    createdAt: clock.now,
    ...(dice.chance(0.3) && { revokedAt: clock.now }),
  }),
  connectors: ({ dice, clock }) => ({
    id: dice.oneOf(CONNECTORS),
    name: dice.oneOf(["one", "two", "three"]),
    kind: "smpp",
    config: { port: dice.between(1, 2) },
    secrets: { password: dice.oneOf(["p", "q"]) },
    isEnabled: dice.chance(0.5),
    createdAt: clock.now,
  }),
  // The id of a route is the name of its queue.
  routes: ({ dice, accounts, clock }) => ({
    id: dice.oneOf([...QUEUES, "unused"]),
    channel: dice.oneOf(["sms", "email"]),
    match: dice.oneOf(["", "91"]),
    connectorIds: dice.chance(0.5) ? [dice.oneOf(CONNECTORS)] : CONNECTORS.slice(1),
    createdAt: clock.now,
    ...(dice.chance(0.5) && { accountId: dice.oneOf(accounts) }),
    ...(dice.chance(0.3) && { failover: "always" as const }),
  }),
  senders: ({ dice, accounts, clock }) => ({
    id: dice.oneOf(["s-1", "s-2", "s-3"]),
    accountId: mostlyFirst(dice, accounts),
    senderId: dice.oneOf(["ACME", NUMBER, "+4420"]),
    isDefault: dice.chance(0.5),
    createdAt: clock.now,
  }),
  smsTemplates: ({ dice, accounts, clock }) => ({
    id: dice.oneOf(["t", "t-2"]),
    accountId: mostlyFirst(dice, accounts),
    name: dice.oneOf(["otp", "news"]),
    body: "hi",
    createdAt: clock.now,
    ...(dice.chance(0.6) && { dltTemplateId: dice.oneOf(["1107", "1108"]) }),
  }),
  inboundNumbers: ({ dice, accounts, clock }) => ({
    id: dice.oneOf(["n-1", "n-2"]),
    accountId: mostlyFirst(dice, accounts),
    number: dice.oneOf([NUMBER, "+4420"]),
    createdAt: clock.now,
    ...(dice.chance(0.5) && { connectorId: dice.oneOf(CONNECTORS) }),
  }),
};

/** So that records are often of one account. */
function mostlyFirst(dice: Dice, [first = "", ...others]: readonly string[]): string {
  return dice.chance(0.7) ? first : dice.oneOf(others);
}

const DIGESTS = ["1".repeat(64), "2".repeat(64)];
const KINDS = Object.keys(DRAFTS) as Drafted[];

/** What the ground has to begin with: a way to each queue. */
export async function layRoutes(ground: Ground): Promise<void> {
  for (const [at, id] of CONNECTORS.entries()) {
    const connector = { ...DRAFTS.connectors(ground), id, name: `${at}` };
    await ask(ground, (store) => store.records.create("connectors", connector));
  }
  for (const id of QUEUES) {
    const route = { ...DRAFTS.routes(ground), id };
    await ask(ground, (store) => store.records.create("routes", route));
  }
}

export async function changeRecord(ground: Ground): Promise<unknown> {
  return change(ground, ground.dice.oneOf(KINDS));
}

async function change<K extends Drafted>(ground: Ground, kind: K): Promise<unknown> {
  const { dice } = ground;
  const draft = DRAFTS[kind](ground);
  switch (dice.oneOf(["create", "create", "update", "remove"])) {
    case "create":
      return (await ask(ground, (store) => store.records.create(kind, draft)))[0] === "created";
    case "remove":
      return (await ask(ground, (store) => store.records.remove(kind, draft.id)))[0];
    default:
      return update(ground, kind, draft);
  }
}

/** Of the record as it is, or as it was when somebody read it long ago. */
async function update<K extends Drafted>(ground: Ground, kind: K, draft: RecordTypes[K]): Promise<unknown> {
  const { dice } = ground;
  const where = { id: draft.id } as Partial<RecordTypes[K]>;
  const [found] = await ask(ground, (store) => store.records.find(kind, where));
  const read = found && dice.chance(0.8) ? found : draft;
  // An account's records stay its own, and nothing is made at another time.
  const {
    id: _,
    accountId: __,
    createdAt: ___,
    ...fields
  } = draft as RecordTypes[K] & { accountId?: string };
  const changes = Object.fromEntries(Object.entries(fields).filter(() => dice.chance(0.6)));
  const [updated] = await ask<Updated<K>>(ground, (store) =>
    store.records.update(kind, read, changes as RecordChanges<K>),
  );
  return updated !== undefined && !("conflict" in updated) && !("overtakenBy" in updated);
}

export async function changeSettings(ground: Ground): Promise<unknown> {
  const { dice, accounts } = ground;
  const accountId = dice.oneOf([undefined, ...accounts]);
  const values: SettingChanges = {
    ...(dice.chance(0.5) && { on_unconfirmed: dice.oneOf(["hold", "resend", undefined]) }),
    ...(dice.chance(0.5) && { keep_bodies: dice.oneOf(["true", "false", undefined]) }),
  };
  return (await ask(ground, (store) => store.records.setSettings(accountId, values)))[0];
}

export async function addWebhookSecret(ground: Ground): Promise<unknown> {
  const { dice, accounts, clock } = ground;
  const accountId = dice.oneOf(accounts);
  const [[newest]] = await ask(ground, (store) => store.records.webhookSecrets(accountId));
  const known = dice.chance(0.5) ? newest?.createdAt : clock.now - 1;
  const secret = { secret: `whsec_${clock.now}`, createdAt: clock.now };
  return (await ask(ground, (store) => store.records.addWebhookSecret(accountId, secret, known)))[0];
}

export async function lookAtRecords(ground: Ground): Promise<void> {
  for (const kind of KINDS) await ask(ground, (store) => store.records.list(kind, {}, { limit: 500 }));
  // Each engine has a secret of its own for the names of those who were erased.
  const nameless = (found: readonly object[]) =>
    JSON.stringify(found).replaceAll(/erased:[0-9a-f]{64}/g, "erased");
  for (const kind of ["suppressions", "optOuts"] as const)
    await ask(ground, (store) => store.records.list<typeof kind>(kind, {}, { limit: 500 }), nameless);
  for (const accountId of [undefined, ...ground.accounts])
    await ask(ground, (store) => store.records.settings(accountId));
  for (const digest of DIGESTS) await ask(ground, (store) => store.records.findKeyOwner(digest));
}
