/** Lets tests wait for a state instead of a time. */
export interface Signals {
  /** Tells that something may have changed. */
  tell(): void;
  /** Resolves when `isSo` is true, which is checked now and after every change. */
  until(isSo: () => boolean): Promise<void>;
}

export function createSignals(): Signals {
  const watchers = new Set<() => void>();
  return {
    tell() {
      for (const look of [...watchers]) look();
    },
    until: (isSo) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isSo()) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}
