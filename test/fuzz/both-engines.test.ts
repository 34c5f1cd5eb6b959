/** Whatever is asked of them, in whatever order, both engines of the store come to the same. */
import { test } from "bun:test";
import { createIds } from "../../src/core/uuid.ts";
import { openEmptied } from "../../src/store/postgres/postgres-world.contract.ts";
import { openInMemory } from "../../src/store/sqlite/sqlite-world.contract.ts";
import { createDice, type Dice } from "../chaos/dice.ts";
import { STEPS, WEIGHTS } from "./engine-calls.ts";
import { ask, type Ground } from "./engine-ground.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const SEED = process.env.FUZZ_SEED ?? "2026-11-27";
const ROUNDS = IS_LONG ? 200 : 3;
const STEPS_PER_ROUND = 100;

/** Steps between two looks at everything. */
const LOOK_EVERY = 10;

test(`both engines come to the same by the same calls (seed ${SEED})`, async () => {
  for (let round = 0; round < ROUNDS; round++) await playRound(`${SEED} ${round}`);
}, 3_600_000);

async function playRound(seed: string): Promise<void> {
  const [{ store: one }, { store: other }] = [await openInMemory(), await openEmptied()];
  const said: string[] = [];
  try {
    const ground = await lay(createDice(seed), [one, other]);
    for (let step = 1; step <= STEPS_PER_ROUND; step++) {
      const name = ground.dice.pick(WEIGHTS);
      said.push(name);
      await STEPS[name](ground);
      if (step % LOOK_EVERY === 0) await lookAtAll(ground);
    }
  } catch (error) {
    throw new Error(`seed ${seed}, after ${said.join(", ")}`, { cause: error });
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

async function lay(dice: Dice, stores: Ground["stores"]): Promise<Ground> {
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
  return { stores, dice, clock, id, accountId: account.id, messages: [], jobs: [], webhooks: [] };
}

/** The messages with their history and their webhooks, what is parked, and what is due. */
async function lookAtAll(ground: Ground): Promise<void> {
  const { accountId } = ground;
  for (const { id, channel } of ground.messages) {
    await ask(ground, (store) => store.messages.find({ accountId, channel, id }));
    await ask(ground, (store) => store.messages.timeline({ id }));
    await ask(ground, (store) => store.outbox.ofMessage(id));
  }
  // Those of one moment are in no order that is promised.
  const parked = (found: readonly { readonly receipt: unknown }[]) =>
    found.map(({ receipt }) => JSON.stringify(receipt)).sort();
  await ask(ground, (store) => store.receipts.parked({ limit: 500 }), parked);
  await ask(ground, (store) => store.receipts.countOverdue());
  await ask(ground, (store) => store.queue.nextDueAt());
  await ask(ground, (store) => store.queue.backlog(100));
  await ask(ground, (store) => store.outbox.readyLanes({ limit: 10 }));
}
