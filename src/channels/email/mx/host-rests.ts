import type { Clock } from "../../../core/clock.ts";

/**
 * Which hosts have said that they take no mail from us for now. What they say holds for every message: each that is offered all the
 * same is refused too, and counts against our address. So a host rests, then one message tries it while the others wait, until it has
 * answered otherwise.
 */
export interface HostRests {
  /** To be called before a host is asked. `undefined`: it rests, or another message is trying it. */
  readonly begin: (host: string) => Visit | undefined;
  /** After how many milliseconds a message that was not let in should come back; `undefined`: it would be let in now. */
  readonly restMs: (host: string) => number | undefined;
  /** Whether it rests since it refused to be spoken to at all, when it was last asked. */
  readonly isShut: (host: string) => boolean;
}

export interface Visit {
  /**
   * What the host said: to wait, in answer to a mail (`wait`) or to the connection (`shut`). Each rest in a row is twice as long as the one before, until the host takes a mail (`taken`). Another answer
   * (`answered`), about the message or its recipients, only lets all messages in again.
   */
  readonly heed: (said: "wait" | "shut" | "answered" | "taken") => void;
  /** Has to be called once the visit is over, whatever came of it. */
  readonly end: () => void;
}

const FIRST_MS = 15_000;
const LONGEST_MS = 120_000;

/** How many hosts are remembered before all are forgotten. */
const MANY = 5_000;

interface Rest {
  untilMs: number;
  nextMs: number;
  /** The host has not answered since the rest. */
  isUnsure: boolean;
  isTried: boolean;
  readonly isShut: boolean;
}

export function createHostRests(clock: Pick<Clock, "monotonicMs">): HostRests {
  const rests = new Map<string, Rest>();
  const leftMs = ({ untilMs }: Rest) => Math.max(0, untilMs - clock.monotonicMs());

  const wait = (host: string, isShut: boolean) => {
    const known = rests.get(host);
    // Said to a mail that was under way when the rest began.
    if (known && leftMs(known) > 0) return;
    if (!known && rests.size >= MANY) rests.clear();
    const restMs = known?.nextMs ?? FIRST_MS;
    const untilMs = clock.monotonicMs() + restMs;
    const nextMs = Math.min(2 * restMs, LONGEST_MS);
    rests.set(host, { untilMs, nextMs, isUnsure: true, isTried: false, isShut });
  };
  const taken = (host: string) => {
    const known = rests.get(host);
    if (known && leftMs(known) > 0) known.nextMs = FIRST_MS;
    else rests.delete(host);
  };

  return {
    begin(host) {
      const known = rests.get(host);
      if (known && (leftMs(known) > 0 || known.isTried)) return undefined;
      if (known?.isUnsure) known.isTried = true;
      return {
        heed(said) {
          if (said === "wait" || said === "shut") wait(host, said === "shut");
          else if (said === "taken") taken(host);
          else if (known && leftMs(known) === 0) known.isUnsure = false;
        },
        end() {
          if (known) known.isTried = false;
        },
      };
    },
    restMs(host) {
      const known = rests.get(host);
      if (known && leftMs(known) > 0) return leftMs(known);
      return known?.isTried ? FIRST_MS : undefined;
    },
    isShut: (host) => rests.get(host)?.isShut ?? false,
  };
}
