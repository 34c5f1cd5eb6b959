/**
 * Preloaded, gives the program a clock that is `AHEAD_MS` milliseconds ahead, or behind if that is negative. At every SIGUSR2 it
 * leaps `LEAP_MS` further, as after a sleep of the machine.
 */
let aheadMs = Number(process.env.AHEAD_MS);
const now = Date.now;
Date.now = () => now() + aheadMs;
process.on("SIGUSR2", () => {
  aheadMs += Number(process.env.LEAP_MS);
});
