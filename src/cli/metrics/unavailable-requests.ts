import type { ObservedRequest } from "../../api/app-deps.ts";
import type { Clock } from "../../core/clock.ts";

const SECONDS = 60;

/** Counts the requests that got a 503: what clients see of a database that takes no writes, or of too many requests. */
export interface UnavailableRequests {
  note(request: Pick<ObservedRequest, "operation" | "status">): void;
  inLastMinute(): number;
}

export function createUnavailableRequests({ monotonicMs }: Pick<Clock, "monotonicMs">): UnavailableRequests {
  /** By second, the oldest first. */
  const counts = new Map<number, number>();
  const thisSecond = () => Math.floor(monotonicMs() / 1_000);
  const forgetOlder = () => {
    for (const second of counts.keys()) if (second <= thisSecond() - SECONDS) counts.delete(second);
  };

  return {
    note({ operation, status }) {
      // A 503 of `/readyz` is a statement about the process, and not a request that was turned away.
      if (status !== 503 || operation === "readyz") return;
      forgetOlder();
      counts.set(thisSecond(), (counts.get(thisSecond()) ?? 0) + 1);
    },
    inLastMinute() {
      forgetOlder();
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    },
  };
}
