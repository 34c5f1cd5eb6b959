import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns";
import type { LookupFunction } from "node:net";

export type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Looks a name up. At each turn another of its addresses comes first: otherwise an address that accepts connections but never
 * answers would keep the others from being tried.
 */
export function lookupInTurn(turn: number, resolve: Resolve = lookup): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "", 0);
      const start = turn % found.length;
      const addresses = [...found.slice(start), ...found.slice(0, start)];
      const [first] = addresses;
      if (options.all) done(null, addresses);
      else done(null, first?.address ?? "", first?.family ?? 0);
    });
  };
}
