/**
 * Weeks of service, with everything at random, in a short time: messages are found for seven days and never longer, schedules are kept over
 * nights and kills, and in the end nothing is left of any message.
 */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { runDays } from "../chaos/days.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const DAYS = Number(process.env.POSTRIDER_CHAOS_DAYS ?? (IS_LONG ? 20 : 2));
const REQUESTS = IS_LONG ? 8 : 3;

/** The short run has one that is known to be sound: it is to find what was broken since. */
const SEED = process.env.POSTRIDER_CHAOS_SEED ?? (IS_LONG ? String(Date.now()) : "days");

onBothStores((store) => {
  test(
    `through ${DAYS} days from the seed ${SEED} every message comes to its end, is found for seven days, and leaves nothing`,
    async () => {
      const { problems, counts } = await runDays(store, { seed: SEED, days: DAYS, requests: REQUESTS });
      if (IS_LONG) process.stdout.write(`${store} ${SEED} ${JSON.stringify(counts)}\n`);
      expect(problems.join("\n")).toBe("");
      expect(counts.messages).toBeGreaterThan(0);
    },
    IS_LONG ? 1_200_000 : 600_000,
  );
});
