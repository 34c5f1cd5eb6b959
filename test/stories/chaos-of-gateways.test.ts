/**
 * SMS over HTTP gateways that fail, and processes that die, all at random: what was answered 202 is never lost, never sent twice without
 * a reason on record, and its fate is always known, whatever the gateways answer, and whenever they report, over whatever URL. What
 * handsets write is listed and told once, however often a gateway hands it on.
 */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { runGatewayChaos } from "../chaos/gateways/run-gateways.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const ROUNDS = Number(process.env.POSTRIDER_CHAOS_ROUNDS ?? (IS_LONG ? 15 : 1));
const STEPS = Number(process.env.POSTRIDER_CHAOS_STEPS ?? (IS_LONG ? 150 : 32));

/** The short run has one that is known to be sound: it is to find what was broken since. */
const SEED = process.env.POSTRIDER_CHAOS_SEED ?? (IS_LONG ? String(Date.now()) : "gateways.895");

onBothStores((store) => {
  for (let round = 0; round < ROUNDS; round++) {
    const seed = round === 0 ? SEED : `${SEED}.${round}`;
    test(`with the seed ${seed} every SMS comes to the end that its gateways and the service tell of`, async () => {
      const { problems, counts } = await runGatewayChaos(store, { seed, steps: STEPS });
      if (IS_LONG) process.stdout.write(`${store} ${seed} ${JSON.stringify(counts)}\n`);
      expect({ seed, problems: problems.join("\n") }).toEqual({ seed, problems: "" });
      expect(counts.submits).toBeGreaterThan(0);
    }, 600_000);
  }
});
