/** Whatever is asked of them, in whatever order, both engines of the store come to the same. */
import { expect, test } from "bun:test";
import { EMAIL_STATUSES, SMS_STATUSES } from "../../src/core/messages/message.ts";
import { senderKey } from "../../src/core/suppressions/opt-out.ts";
import { createIds } from "../../src/core/uuid.ts";
import { openEmptied } from "../../src/store/postgres/postgres-world.contract.ts";
import { openInMemory } from "../../src/store/sqlite/sqlite-world.contract.ts";
import { createDice, type Dice } from "../chaos/dice.ts";
import { layApp } from "./device-calls.ts";
import { STEPS, type StepName, WEIGHTS } from "./engine-calls.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { lookAtUsage, savedAnswers } from "./intake-calls.ts";
import { lookAtPolicies } from "./policy-calls.ts";
import { ADDRESSES, NUMBER, PHONES } from "./provider-words.ts";
import { layRoutes, lookAtRecords } from "./record-calls.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const SEED = process.env.FUZZ_SEED ?? "2026-11-27";
const ROUNDS = IS_LONG ? 200 : 3;
const STEPS_PER_ROUND = 130;

/** Steps between two looks at everything. */
const LOOK_EVERY = 10;

test(`both engines come to the same by the same calls (seed ${SEED})`, async () => {
  const done: StepName[] = [];
  for (let round = 0; round < ROUNDS; round++) await playRound(`${SEED} ${round}`, done);
  if (!IS_LONG) return;
  const counts = Object.keys(WEIGHTS).map((name) => `${name} ${done.filter((each) => each === name).length}`);
  process.stdout.write(`${SEED}: ${counts.join(", ")}\n`);
  expect(counts.filter((each) => each.endsWith(" 0"))).toEqual([]);
}, 3_600_000);

/** @param done takes the names of the steps that did something */
async function playRound(seed: string, done: StepName[]): Promise<void> {
  const [{ store: one, inside }, { store: other, inside: otherInside }] = [
    await openInMemory(),
    await openEmptied(),
  ];
  const said: string[] = [];
  try {
    const ground = await lay(createDice(seed), { stores: [one, other], insides: [inside, otherInside] });
    for (let step = 1; step <= STEPS_PER_ROUND; step++) {
      const name = ground.dice.pick(WEIGHTS);
      said.push(name);
      if (isSomething(await STEPS[name](ground))) done.push(name);
      if (step % LOOK_EVERY === 0) await lookAtAll(ground);
    }
  } catch (error) {
    throw new Error(`seed ${seed}, after ${said.join(", ")}`, { cause: error });
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

function isSomething(came: unknown): boolean {
  return Array.isArray(came) ? came.length > 0 : Boolean(came);
}

async function lay(dice: Dice, { stores, insides }: Pick<Ground, "stores" | "insides">): Promise<Ground> {
  const clock = { now: Date.UTC(2026, 0, 15, 12) };
  const octets = (length: number) => Uint8Array.from({ length }, () => dice.between(0, 255));
  const id = createIds({ now: () => clock.now }, octets);
  const account = { id: id(), name: "acme", mode: "live", createdAt: clock.now } as const;
  const settings = {
    ...(dice.chance(0.5) && { on_unconfirmed: "hold" }),
    ...(dice.chance(0.3) && { keep_bodies: "true" }),
  };
  await ask({ stores }, (store) => store.records.create("accounts", account));
  await ask({ stores }, (store) => store.records.setSettings(account.id, settings));
  const number = { id: id(), accountId: account.id, number: NUMBER, createdAt: clock.now };
  await ask({ stores }, (store) => store.records.create("inboundNumbers", number));
  const accounts = [account.id, id(), id()];
  const common = { stores, insides, dice, clock, id, accountId: account.id, accounts };
  const ground = { ...common, appId: await layApp(common), messages: [], jobs: [], webhooks: [] };
  await layRoutes(ground);
  return ground;
}

/** The messages with their history and their webhooks, what is parked, what is due, and who must not be sent to. */
async function lookAtAll(ground: Ground): Promise<void> {
  for (const { id, accountId, channel } of ground.messages) {
    await ask(ground, (store) => store.messages.find({ accountId, channel, id }));
    await ask(ground, (store) => store.messages.timeline({ id }));
    await ask(ground, (store) => store.outbox.ofMessage(id));
    await ask(ground, async (_, engine) => ground.insides[engine].hasBody(id));
  }
  // Those of one moment are in no order that is promised.
  const parked = (found: readonly { readonly receipt: unknown }[]) =>
    found.map(({ receipt }) => JSON.stringify(receipt)).sort();
  await ask(ground, (store) => store.receipts.parked({ limit: 500 }), parked);
  await ask(ground, (store) => store.receipts.countParked());
  await ask(ground, (store) => store.receipts.countOverdue());
  await ask(ground, (store) => store.queue.nextDueAt());
  // One engine knows a queue also by a request that was refused.
  await ask(
    ground,
    (store) => store.queue.backlog(100),
    (queues) => queues.filter(({ ready }) => ready > 0),
  );
  await ask(ground, (store) => store.outbox.readyLanes({ limit: 10 }));
  await ask(ground, (store) => store.outbox.nextDueAt());
  await ask(ground, (store) => store.outbox.backlog());
  await ask(ground, (store) => store.sandbox.list({ limit: 500 }));
  await ask(ground, (store) => store.sandbox.nextReceiptAt());
  await savedAnswers(ground);
  await lookAtUsage(ground);
  await lookAtRecords(ground);
  await lookAtPolicies(ground);
  await ask(ground, (store) => store.erasures.list({ limit: 500 }));
  await lookAtPeople(ground);
}

async function lookAtPeople(ground: Ground): Promise<void> {
  const { accountId, clock } = ground;
  for (const channel of ["sms", "email"] as const) {
    const query = { accountId, channel, createdFrom: 0, limit: 500 };
    await ask(ground, (store) => store.messages.list(query));
    const status = ground.dice.oneOf([...SMS_STATUSES, ...EMAIL_STATUSES]);
    await ask(ground, (store) => store.messages.list({ ...query, status }));
    for (const recipient of channel === "sms" ? PHONES : ADDRESSES)
      await ask(ground, (store) => store.messages.list({ ...query, recipient }));
  }
  await ask(ground, (store) => store.records.list("contacts", { accountId }, { limit: 500 }));
  await ask(ground, (store) => store.inbound.countUnassigned());
  for (const each of [...ground.accounts, null])
    await ask(ground, (store) => store.inbound.list({ accountId: each, limit: 500 }));
  const emails = ADDRESSES.map((each) => each.toLowerCase());
  await ask(
    ground,
    (store) => store.suppressions.find(accountId, emails, clock.now),
    (found) => found.map((each) => JSON.stringify(each)).sort(),
  );
  await ask(ground, (store) =>
    store.suppressions.findOptedOut({ accountId, sender: senderKey(NUMBER), to: PHONES }),
  );
}
