/**
 * Bounds the memory that request bodies take while they arrive. Strangers, who send without a key, have a share of it, so
 * that they cannot use it up for those who have one.
 */

/** What one body takes of the budget. */
export interface Holding {
  /** Octets. */
  readonly reserved: number;
  /** The address block of a client that sends without a key; `undefined`: it has one. */
  readonly stranger: string | undefined;
}

export interface BodyBudget {
  /** False if there is no room. */
  take(reserved: number, stranger: string | undefined): boolean;
  giveBack(holding: Holding): void;
}

/** The share of the budget for all strangers together, and for each of them. */
const STRANGERS_SHARE = 1 / 2;
const ONE_STRANGERS_SHARE = 1 / 8;

export function createBodyBudget(maxBytes: number): BodyBudget {
  const ofEach = new Map<string, number>();
  let ofStrangers = 0;
  let held = 0;

  const hasRoom = (reserved: number, stranger: string | undefined): boolean => {
    if (held + reserved > maxBytes) return false;
    if (stranger === undefined) return true;
    const ofThisOne = ofEach.get(stranger) ?? 0;
    return (
      ofStrangers + reserved <= maxBytes * STRANGERS_SHARE &&
      ofThisOne + reserved <= maxBytes * ONE_STRANGERS_SHARE
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
