/**
 * Everything at random: what is asked, what the SMSC does, and what happens to the processes. What was answered 202 is
 * never lost, never sent twice without a reason on record, and its fate is always known.
 */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { runChaos } from "../chaos/run.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const ROUNDS = Number(process.env.POSTRIDER_CHAOS_ROUNDS ?? (IS_LONG ? 30 : 1));
/** In every third round a process stands still until the other one takes its messages over, which takes a quarter of a minute. */
const STANDSTILLS_EVERY = Number(process.env.POSTRIDER_CHAOS_STANDSTILLS ?? 3);
const STEPS = Number(process.env.POSTRIDER_CHAOS_STEPS ?? (IS_LONG ? 150 : 62));

/** Of the first round; a failed one says its own. The short run has one that is known to be sound: it is to find what was broken since. */
const SEED = process.env.POSTRIDER_CHAOS_SEED ?? (IS_LONG ? String(Date.now()) : "k");

onBothStores((store) => {
  for (let round = 0; round < ROUNDS; round++) {
    const seed = round === 0 ? SEED : `${SEED}.${round}`;
    const hasStandstill = IS_LONG && round % STANDSTILLS_EVERY === 0;
    test(`with the seed ${seed} every message comes to the end that both sides tell of`, async () => {
      const { problems, counts } = await runChaos(store, { seed, steps: STEPS, hasStandstill });
      if (IS_LONG) process.stdout.write(`${store} ${seed} ${JSON.stringify(counts)}\n`);
      expect({ seed, problems: problems.join("\n") }).toEqual({ seed, problems: "" });
      expect(counts.messages).toBeGreaterThan(0);
    }, 600_000);
  }
});
