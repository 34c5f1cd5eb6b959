/** Lets tests wait for a state without polling. */
export function createChanges() {
  const waiting = new Set<() => void>();
  return {
    announce() {
      for (const look of [...waiting]) look();
    },
    until<T>(look: () => T | undefined): Promise<T> {
      return new Promise((resolve) => {
        const tryNow = () => {
          const found = look();
          if (found === undefined) return;
          waiting.delete(tryNow);
          resolve(found);
        };
        waiting.add(tryNow);
        tryNow();
      });
    },
  };
}
