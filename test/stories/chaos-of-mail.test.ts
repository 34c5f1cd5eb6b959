/**
 * Emails, processes that die, and relays that fail, all at random: nobody for whom an email was accepted is left out or gets it twice
 * without a reason on record, and what became of it is known for each.
 */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { runMailChaos } from "../chaos/mail/run-mail.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const ROUNDS = Number(process.env.POSTRIDER_CHAOS_ROUNDS ?? (IS_LONG ? 10 : 1));
const STEPS = Number(process.env.POSTRIDER_CHAOS_STEPS ?? (IS_LONG ? 150 : 25));

/** The short run has one that is known to be sound: it is to find what was broken since. */
const SEED = process.env.POSTRIDER_CHAOS_SEED ?? (IS_LONG ? String(Date.now()) : "mail");

onBothStores((store) => {
  for (let round = 0; round < ROUNDS; round++) {
    const seed = round === 0 ? SEED : `${SEED}.${round}`;
    test(`with the seed ${seed} every email comes to the end that both sides tell of, for each recipient`, async () => {
      const { problems, counts } = await runMailChaos(store, { seed, steps: STEPS });
      if (IS_LONG) process.stdout.write(`${store} ${seed} ${JSON.stringify(counts)}\n`);
      expect({ seed, problems: problems.join("\n") }).toEqual({ seed, problems: "" });
      expect(counts.mails).toBeGreaterThan(0);
    }, 600_000);
  }
});
