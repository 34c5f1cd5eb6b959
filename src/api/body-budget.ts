/**
 * The octets that bodies on their way may take at one time: memory has an end, and who needs no key must not be able to use
 * it up for those who have one.
 */

/** The place of one of them. */
export interface Holding {
  /** Octets. */
  readonly reserved: number;
  /** The block of addresses of one who sends without a key. */
  readonly stranger: string | undefined;
}

export interface BodyBudget {
  /** False where there is no room. */
  take(reserved: number, stranger: string | undefined): boolean;
  giveBack(holding: Holding): void;
}

/** Of all octets: those of strangers together, and of one of them. */
const OF_STRANGERS = 1 / 2;
const OF_ONE_STRANGER = 1 / 8;

export function createBodyBudget(maxBytes: number): BodyBudget {
  const ofEach = new Map<string, number>();
  let ofStrangers = 0;
  let held = 0;

  const hasRoom = (reserved: number, stranger: string | undefined): boolean => {
    if (held + reserved > maxBytes) return false;
    if (stranger === undefined) return true;
    const ofThisOne = ofEach.get(stranger) ?? 0;
    return (
      ofStrangers + reserved <= maxBytes * OF_STRANGERS && ofThisOne + reserved <= maxBytes * OF_ONE_STRANGER
    );
  };
  const count = (octets: number, stranger: string | undefined): void => {
    held += octets;
    if (stranger === undefined) return;
    ofStrangers += octets;
    const ofThisOne = (ofEach.get(stranger) ?? 0) + octets;
    if (ofThisOne === 0) ofEach.delete(stranger);
    else ofEach.set(stranger, ofThisOne);
  };

  return {
    take(reserved, stranger) {
      if (!hasRoom(reserved, stranger)) return false;
      count(reserved, stranger);
      return true;
    },
    giveBack: ({ reserved, stranger }) => count(-reserved, stranger),
  };
}
