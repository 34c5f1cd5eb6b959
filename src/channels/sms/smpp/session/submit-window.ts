/** The window of a session: how many submit_sm may be unanswered, as slots that are taken and given back. */
export interface SubmitWindow {
  readonly size: number;
  /** False once closed. */
  isOpen(): boolean;
  /** Free slots; 0 once closed. */
  free(): number;
  /** Takes a slot; only where one is free. */
  take(): void;
  giveBack(): void;
  /** No slot is free from now on. Those taken stay so until given back. */
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
