/** The window of a session: how many submit_sm may be unanswered. Each takes a slot and gives it back. */
export interface SubmitWindow {
  size(): number;
  /** False once closed. */
  isOpen(): boolean;
  /** Free slots; 0 while it rests, and once closed. */
  free(): number;
  /** Takes a slot. Only to be called if one is free. */
  take(): void;
  giveBack(): void;
  /** From now on no slot is free, until `wake`. */
  rest(): void;
  isResting(): boolean;
  wake(): void;
  /** From now on no slot is free. Slots that are taken stay so until they are given back. */
  close(): void;
  /** Resolves once the window is closed and every slot has been given back. */
  drained(): Promise<void>;
}

/**
 * @param size how many slots there are at present. If fewer than are taken, none is free until enough are given back
 * @param onChange called when a slot may have become free, and when the window closes
 */
export function createSubmitWindow(size: () => number, onChange: () => void): SubmitWindow {
  const drained = Promise.withResolvers<void>();
  let taken = 0;
  let isClosed = false;
  let isResting = false;
  const changed = () => {
    if (isClosed && taken === 0) drained.resolve();
    onChange();
  };
  return {
    size,
    isOpen: () => !isClosed,
    free: () => (isClosed || isResting ? 0 : Math.max(0, size() - taken)),
    take() {
      taken++;
    },
    giveBack() {
      taken--;
      changed();
    },
    rest() {
      isResting = true;
    },
    isResting: () => isResting,
    wake() {
      if (!isResting) return;
      isResting = false;
      changed();
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      changed();
    },
    drained: () => drained.promise,
  };
}
