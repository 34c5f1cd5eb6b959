/** False for a number that parsing JSON may have rounded: from 2^53 on neighbouring integers become the same. */
export function isExactNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

export const NOT_EXACT = "numbers from 2^53 on would be rounded: give them as strings";
