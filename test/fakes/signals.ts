/** Lets tests wait for a state instead of for a time. */
export interface Signals {
  /** Something may have changed. */
  tell(): void;
  /** Resolves when `isSo`, which is asked now and again whenever told. */
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
