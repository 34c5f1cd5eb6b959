import type { Clock } from "../../../core/clock.ts";

/**
 * The slots of a session: as many submit_sm may be unanswered. Who finds none free waits in line, first come
 * first served. Not more than `size` wait; the next is refused at once.
 */
export interface SubmitWindow {
  /** Slots nobody holds or waits for; 0 while resting and once closed. */
  free(): number;
  /** True with a slot; false if none came free in time, on abort, and once closed. */
  take(limit: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<boolean>;
  giveBack(): void;
  /** Hands out nothing for a while. */
  rest(ms: number): void;
  /** Hands out nothing ever again; those who wait are refused. Slots already taken stay so until given back. */
  close(): void;
  /** Resolves once closed and every slot is given back. */
  drained(): Promise<void>;
}

export function createSubmitWindow(size: number, clock: Clock, onFree: () => void): SubmitWindow {
  const line = createLine(clock);
  const drained = Promise.withResolvers<void>();
  let taken = 0;
  let isClosed = false;
  let wake: (() => void) | undefined;

  const isOpen = () => !isClosed && wake === undefined && taken < size;
  const free = () => (isOpen() ? Math.max(0, size - taken - line.length()) : 0);
  const serve = () => {
    while (isOpen() && line.length() > 0) {
      taken++;
      line.callFirst();
    }
    if (isClosed && taken === 0) drained.resolve();
    if (free() > 0) onFree();
  };

  return {
    free,
    async take({ waitMs, signal }) {
      if (isClosed || signal.aborted) return false;
      if (isOpen() && line.length() === 0) {
        taken++;
        return true;
      }
      return line.length() < size && line.join(waitMs, signal);
    },
    giveBack() {
      taken--;
      serve();
    },
    rest(ms) {
      wake?.();
      wake = clock.after(ms, () => {
        wake = undefined;
        serve();
      });
    },
    close() {
      isClosed = true;
      wake?.();
      line.sendAway();
      serve();
    },
    drained: () => drained.promise,
  };
}

/** Those who wait for a slot, first come first served. */
function createLine(clock: Clock) {
  const line = new Set<(gotSlot: boolean) => void>();
  return {
    length: () => line.size,
    /** True when called to a slot; false when the time is up, on abort, and when sent away. */
    join: (waitMs: number, signal: AbortSignal) =>
      new Promise<boolean>((resolve) => {
        const refuse = () => leave(false);
        const leave = (gotSlot: boolean) => {
          line.delete(leave);
          cancel();
          signal.removeEventListener("abort", refuse);
          resolve(gotSlot);
        };
        const cancel = clock.after(waitMs, refuse);
        signal.addEventListener("abort", refuse);
        line.add(leave);
      }),
    callFirst() {
      const [first] = line;
      first?.(true);
    },
    sendAway() {
      for (const leave of [...line]) leave(false);
    },
  };
}
