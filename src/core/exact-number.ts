/** False for a number that parsing JSON may have rounded: beyond 2^53 neighbouring integers become the same. */
export function isExactNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

export const NOT_EXACT = "numbers beyond 2^53 would be rounded: give them as strings";
