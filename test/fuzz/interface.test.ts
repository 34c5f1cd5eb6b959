/** The whole interface, held to its own description by requests of every kind. */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { runFuzz } from "./run.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";

/** Each with a service of its own. */
const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? (IS_LONG ? 20 : 1));
const CASES = { sqlite: IS_LONG ? 3_000 : 300, postgres: IS_LONG ? 3_000 : 80 };
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_122);

/** Of memory that a round may leave behind, once the first has shown what one takes. */
const MOST_LEFT = 100 * 1024 * 1024;

onBothStores((store) => {
  test(`every answer is as /openapi.json has it, whatever is asked (seed ${SEED})`, async () => {
    const cases = Number(process.env.FUZZ_CASES ?? CASES[store]);
    let first = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { findings, seen } = await runFuzz({ seed: SEED + round, cases });
      expect(findings, `FUZZ_SEED=${SEED + round} FUZZ_CASES=${cases}`).toEqual([]);
      Bun.gc(true);
      const { rss } = process.memoryUsage();
      if (round === 0) first = rss;
      expect(rss - first).toBeLessThan(MOST_LEFT);
      if (IS_LONG)
        process.stderr.write(`${store} ${SEED + round}: ${seen.size} kinds of answers, ${rss >> 20} MiB\n`);
    }
  }, 3_600_000);
});
