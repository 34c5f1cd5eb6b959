import type { Clock } from "../../../core/clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";

/**
 * Which places could not be connected to. One that drops what is sent to it keeps each message, and its slot, waiting for half a
 * minute: with a few such domains in a queue nothing else would be sent. So now and then one message tries whether it can be
 * connected to again, and the others are put off at once.
 */
export interface HostFaults {
  /** Whether the place could not be connected to lately. */
  readonly hasFailed: (place: string) => boolean;
  /**
   * To be called before an attempt to connect. `fault`: the last one, which holds for now, since somebody has tried lately, or is
   * trying. Otherwise `end` has to be called after the attempt, whatever came of it.
   */
  readonly begin: (place: string) => Trying | { readonly fault: MessageError };
}

interface Trying {
  readonly reached: () => void;
  readonly failed: (fault: MessageError) => void;
  readonly end: () => void;
}

/** Less than the shortest wait before a second attempt (a minute, less a tenth), so that it tries again. */
const REST_MS = 50_000;

/** How many places are remembered before all are forgotten. */
const MANY = 5_000;

interface Failed {
  readonly fault: MessageError;
  readonly untilMs: number;
  isTried: boolean;
}

export function createHostFaults(clock: Pick<Clock, "monotonicMs">): HostFaults {
  const failed = new Map<string, Failed>();
  const isResting = ({ untilMs }: Failed) => untilMs > clock.monotonicMs();

  return {
    hasFailed(place) {
      const known = failed.get(place);
      return known !== undefined && isResting(known);
    },
    begin(place) {
      const known = failed.get(place);
      if (known && (known.isTried || isResting(known))) return { fault: known.fault };
      if (known) known.isTried = true;
      return {
        reached: () => void failed.delete(place),
        failed(fault) {
          if (failed.size >= MANY) failed.clear();
          failed.set(place, { fault, untilMs: clock.monotonicMs() + REST_MS, isTried: false });
        },
        end() {
          if (known) known.isTried = false;
        },
      };
    },
  };
}
