/**
 * Preloaded, gives the program a clock that a file sets: `CLOCK_FILE` says how many milliseconds it is ahead. The file is read at
 * the start and at every SIGUSR2, after which the program logs "leapt". Long timers, for the next bind or the end of a
 * pause, are shortened.
 */
import { readFileSync } from "node:fs";

const readAheadMs = () => Number(readFileSync(process.env.CLOCK_FILE ?? "", "utf8"));

let aheadMs = readAheadMs();
const now = Date.now;
Date.now = () => now() + aheadMs;
process.on("SIGUSR2", () => {
  aheadMs = readAheadMs();
  process.stdout.write(`{"msg":"leapt","ahead":${aheadMs}}\n`);
});

const LONG_MS = 2_000;
const TIMES_FASTER = 20;
const wait = globalThis.setTimeout;
const shortened = (ms = 0) => (ms > LONG_MS ? LONG_MS + (ms - LONG_MS) / TIMES_FASTER : ms);
globalThis.setTimeout = Object.assign(
  (run: () => void, ms?: number, ...given: []) => wait(run, shortened(ms), ...given),
  wait,
) as typeof wait;
