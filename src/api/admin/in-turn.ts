/** Runs `work` once all that was given before it under the same name is over. */
export type InTurn = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * Changes of one record that arrive together each begin with what the one before has left. The store would let none
 * undo another either, but of a hundred that begin together one is written, ninety-nine begin again, and so on: this way
 * only those of other processes are met.
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
