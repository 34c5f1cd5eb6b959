/** The slots of a session: as many submit_sm may be unanswered. */
export interface SubmitWindow {
  readonly size: number;
  /** False once closed. */
  isOpen(): boolean;
  /** Slots nobody holds; 0 once closed. */
  free(): number;
  /** Takes one of those that are free. */
  take(): void;
  giveBack(): void;
  /** Hands out nothing ever again. Slots already taken stay so until given back. */
  close(): void;
  /** Resolves once closed and every slot is given back. */
  drained(): Promise<void>;
}

/** @param onChange called when a slot came free, and when the window closes */
export function createSubmitWindow(size: number, onChange: () => void): SubmitWindow {
  const drained = Promise.withResolvers<void>();
  let taken = 0;
  let isClosed = false;
  const changed = () => {
    if (isClosed && taken === 0) drained.resolve();
    onChange();
  };
  return {
    size,
    isOpen: () => !isClosed,
    free: () => (isClosed ? 0 : size - taken),
    take() {
      taken++;
    },
    giveBack() {
      taken--;
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
