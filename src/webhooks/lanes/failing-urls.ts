/**
 * The URLs of one host, for one account, whose last delivery was answered with an error: of several receivers behind the host, one may
 * be turned off while the others do well. Times are milliseconds of a monotonic clock.
 */
import { createHash } from "node:crypto";
import { remember } from "../../core/work/remember.ts";
import type { HostHealth } from "../judge.ts";

export interface FailingUrls {
  /** How many are known. */
  size(): number;
  has(url: string): boolean;
  /**
   * Notes what came of a delivery. True if it is a failure of that URL, which says nothing about the host: it has failed a few times
   * in a row, and meanwhile the host took something for another URL, not long ago.
   */
  learn(url: string, health: HostHealth, now: number): boolean;
}

/** A few, as a failure or two may be the beginning of the host's own. */
const FAILURES_OF_ITS_OWN = 3;

/** For how long a success speaks for the host. */
const HEALTHY_FOR_MS = 10 * 60_000;

/** Beyond that, the one that failed least recently is forgotten, and taken for any other. */
const MAX_URLS = 32;

interface Streak {
  readonly failures: number;
  readonly sinceMs: number;
}

export function createFailingUrls(): FailingUrls {
  const streaks = new Map<string, Streak>();
  let healthyAtMs = Number.NEGATIVE_INFINITY;

  const add = (key: string, now: number): Streak => {
    const { failures, sinceMs } = streaks.get(key) ?? { failures: 0, sinceMs: now };
    const streak = { failures: failures + 1, sinceMs };
    remember(streaks, [key, streak], MAX_URLS);
    return streak;
  };
  return {
    size: () => streaks.size,
    has: (url) => streaks.has(keyOf(url)),
    learn(url, health, now) {
      if (health.kind === "healthy") {
        healthyAtMs = now;
        // Most hosts have none, and then the key would be made for nothing, with each delivery.
        if (streaks.size > 0) streaks.delete(keyOf(url));
      }
      if (health.kind !== "failing" || !health.mayBeOfUrl) return false;
      const { failures, sinceMs } = add(keyOf(url), now);
      const isHostWell = sinceMs < healthyAtMs && now - healthyAtMs < HEALTHY_FOR_MS;
      return failures >= FAILURES_OF_ITS_OWN && isHostWell;
    },
  };
}

/** URLs may be long. */
function keyOf(url: string): string {
  return createHash("sha256").update(url).digest("base64url");
}
