import type { Clock } from "../../../../core/clock.ts";
import type { DeliverySession } from "./inbound-keys.ts";

/**
 * The messages of a connector that are not answered yet. After an outage an SMSC delivers at once what has waited, such as STOP,
 * START and STOP, over all sessions: the second STOP is no repeat of the first, although it comes before the answer to that.
 */
export interface Unanswered {
  /**
   * Adds a message, until `answered` is called. `copy` is 1, or more if messages with the same octets came just before, have no
   * answer, and may still get one: the lowest number that none of them has. So all get the same numbers when they are delivered again.
   */
  add(fingerprint: string, session: DeliverySession): { readonly copy: number; answered(): void };
  isEmpty(): boolean;
}

/** No SMSC takes a message for lost so soon: while its session goes on, the same octets are another message. */
const NOT_YET_MISSED_MS = 2_000;

interface Waiting {
  readonly copy: number;
  readonly session: DeliverySession;
  readonly atMs: number;
}

export function createUnanswered(clock: Pick<Clock, "monotonicMs">): Unanswered {
  const entries = new Map<string, Set<Waiting>>();
  return {
    isEmpty: () => entries.size === 0,
    add(fingerprint, session) {
      const atMs = clock.monotonicMs();
      const same = entries.get(fingerprint) ?? new Set();
      entries.set(fingerprint, same);
      const recent = [...same].filter((each) => !each.session.end && atMs - each.atMs < NOT_YET_MISSED_MS);
      const taken = new Set(recent.map(({ copy }) => copy));
      let copy = 1;
      while (taken.has(copy)) copy++;
      const entry = { copy, session, atMs };
      same.add(entry);
      return {
        copy,
        answered() {
          same.delete(entry);
          if (same.size === 0) entries.delete(fingerprint);
        },
      };
    },
  };
}
