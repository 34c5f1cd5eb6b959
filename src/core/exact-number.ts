/** False for a number that reading JSON may have rounded: beyond 2^53 neighbours have become one. */
export function isExactNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

export const NOT_EXACT = "numbers beyond 2^53 would be rounded: give them as strings";
