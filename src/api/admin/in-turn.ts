/** Runs `work` after all earlier work under the same name has ended. */
export type InTurn = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * Serialises the changes of one record within this process. The store refuses a change that is based on an outdated
 * record; so of a hundred changes at once only one would be written, and ninety-nine would have to start again.
 */
export function createInTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = last.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}
