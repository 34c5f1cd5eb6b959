/** What is taken from handsets, who must not be sent to, and what is deleted when its time is over, by dice. */
import { DAY_MS } from "../../src/core/time/durations.ts";
import type { Store } from "../../src/store/store.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { ADDRESSES, CONNECTORS, NUMBER, PHONES } from "./provider-words.ts";
import { claim } from "./queue-calls.ts";

/** Whole, in parts that come in any order, and again; its keyword may take effect. */
export async function fromHandset(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const id = ground.id();
  const part = dice.chance(0.4) && { reference: dice.between(1, 2), total: 2, number: dice.between(1, 2) };
  const piece = {
    id,
    connectorId: dice.oneOf(CONNECTORS),
    from: dice.oneOf(PHONES),
    to: dice.oneOf([NUMBER, NUMBER, "+4420"]),
    text: dice.oneOf(["hello", "STOP", "Start", "grüße"]),
    encoding: "gsm7" as const,
    segments: 1,
    receivedAt: clock.now,
    key: dice.chance(0.2) ? "same" : id,
    sameSince: clock.now - 10_000,
    ...(dice.chance(0.5) && { hasNoId: true as const }),
    ...(part && { part }),
  };
  const [results] = await ask(ground, (store) => store.inbound.receive([piece]));
  if (dice.chance(0.3)) await ask(ground, (store) => store.inbound.storeIncomplete(clock.now - 10_000, 500));
  if (dice.chance(0.1)) await ask(ground, (store) => store.inbound.dropUnassigned({ most: 2, limit: 500 }));
  return results;
}

export async function suppress(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const accountId = dice.chance(0.8) ? ground.accountId : dice.oneOf(ground.accounts);
  const email = dice.oneOf(ADDRESSES).toLowerCase().replace("münchen", "xn--mnchen-3ya");
  const expiresAt = dice.chance(0.5) ? clock.now + 60_000 : undefined;
  const suppression = {
    id: ground.id(),
    accountId,
    email,
    reason: "manual" as const,
    createdAt: clock.now,
    ...(dice.chance(0.5) && { source: `${email} has asked` }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  return (await ask(ground, (store) => store.suppressions.add([suppression])))[0];
}

/** Of batches, whose last job may have gone. One engine keeps what is left of a pruned batch a day longer, and wipes that too. */
export async function wipe(ground: Ground): Promise<unknown> {
  const wiped = untilNothing((store) => store.retention.wipeContents(0, 500));
  return (await ask(ground, wiped, () => undefined))[0];
}

/** Days later: one engine deletes by whole days, so that both go by midnight. Attempts may be under way at what goes. */
export async function prune(ground: Ground): Promise<unknown> {
  const { clock, dice } = ground;
  if (dice.chance(0.5)) await claim(ground);
  clock.now += 2 * DAY_MS;
  const midnight = clock.now - (clock.now % DAY_MS);
  const bounds = {
    before: midnight - DAY_MS,
    atLatest: midnight - 3 * DAY_MS,
    limit: dice.oneOf([1, 10, 1_000]),
  };
  const pruneAll = untilNothing((store) => store.retention.pruneMessages(bounds));
  // One engine says of a walk past unfinished ones that it has done something.
  const [pruned] = await ask(ground, pruneAll, () => undefined);
  await ask(
    ground,
    untilNothing((store) => store.retention.pruneReceived(bounds.before, 1_000)),
  );
  await ask(
    ground,
    untilNothing((store) => store.retention.pruneInbound(bounds)),
  );
  await ask(
    ground,
    untilNothing((store) => store.retention.pruneIdempotencyKeys(clock.now, 1_000)),
  );
  await ask(
    ground,
    untilNothing((store) => store.retention.pruneSuppressions(clock.now, 1_000)),
  );
  return pruned;
}

/** Whether anything was done; how many calls it took is each engine's own. */
export function untilNothing(call: (store: Store) => Promise<number>): (store: Store) => Promise<boolean> {
  return async (store) => {
    let calls = 0;
    while ((await call(store)) > 0) calls++;
    return calls > 0;
  };
}
