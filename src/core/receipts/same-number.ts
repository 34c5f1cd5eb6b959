/** Fewer digits may be a short code or a truncated number, so that a longer number that ends with them may be another one. */
const MIN_DIGITS = 7;

/**
 * Whether a number as a provider writes it, with or without `+`, prefix and leading zeros, is our number. `undefined` if nobody
 * can tell, because the number is missing, is masked or has letters.
 *
 * @param ours E.164
 */
export function isSameNumber(ours: string, written: string | undefined): boolean | undefined {
  const theirs = digitsOf(written ?? "");
  const own = digitsOf(ours);
  if (theirs === undefined || own === undefined) return undefined;
  if (theirs === own) return true;
  const [shorter, longer] = theirs.length < own.length ? [theirs, own] : [own, theirs];
  return shorter.length >= MIN_DIGITS && longer.endsWith(shorter);
}

function digitsOf(number: string): string | undefined {
  const plain = number.replace(/[\s().+-]/g, "").replace(/^0+/, "");
  return /^\d+$/.test(plain) ? plain : undefined;
}
