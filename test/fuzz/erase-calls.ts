/** People who want to be forgotten, by dice, whatever is tried to reach them meanwhile. */
import { ask, type Ground } from "./engine-ground.ts";
import { ADDRESSES, PHONES } from "./provider-words.ts";
import { untilNothing } from "./upkeep-calls.ts";

export async function eraseRecipient(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const erasure = {
    id: ground.id(),
    recipient: dice.oneOf([...PHONES, ...ADDRESSES.map((each) => each.toLowerCase())]),
    salt: "5".repeat(32),
    digest: "d".repeat(64),
    createdAt: clock.now,
    ...(dice.chance(0.3) && { accountId: dice.oneOf(ground.accounts) }),
  };
  await ask(ground, (store) => store.erasures.create(erasure));
  clock.now += 1;
  if (dice.chance(0.7)) await goOnErasing(ground);
  const [done] = await ask(ground, (store) => store.erasures.find(erasure.id));
  return (done?.erased ?? 0) + (done?.redacted ?? 0);
}

/** It waits where an attempt, or a webhook, is under way, and goes on from there by a later step. */
export async function goOnErasing(ground: Ground): Promise<unknown> {
  const { clock, dice } = ground;
  const limit = dice.oneOf([1, 15, 50]);
  const advanced = untilNothing((store) => store.erasures.advance(clock.now, limit));
  // How far before an attempt under way it stands, and so whether it can still go on, is each engine's own.
  return (await ask(ground, advanced, () => undefined))[0];
}
