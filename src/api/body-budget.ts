/**
 * Bounds the memory that request bodies take while they arrive. Nobody can use it up for the others: whoever sends may hold
 * so many times what stays free, and so leaves something free, however many do that at the same time.
 */

/** Who sends a body. */
export interface BodySender {
  /** The account of its key, or the address block of a client that sends without one. */
  readonly name: string;
  /** It sends without a key. */
  readonly isStranger: boolean;
}

/** What one body takes of the budget. */
export interface Holding {
  readonly sender: BodySender;
  /** Octets; `undefined`: given back. */
  reserved: number | undefined;
}

export interface BodyBudget {
  /** Adds to a holding. False, and nothing is taken, if there is no room, or if it is given back. */
  take(holding: Holding, octets: number): boolean;
  giveBack(holding: Holding): void;
}

/** How many times what stays free one account may hold: alone, three quarters of the budget. */
const OF_AN_ACCOUNT = 3;
/** All strangers together: alone, half of it. */
const OF_STRANGERS = 1;
/** One of them: alone, an eighth. */
const OF_A_STRANGER = 1 / 7;

export function createBodyBudget(maxBytes: number): BodyBudget {
  const ofEach = new Map<string, number>();
  let ofStrangers = 0;
  let held = 0;

  const hasRoom = (octets: number, { name, isStranger }: BodySender): boolean => {
    const free = maxBytes - held - octets;
    const ofThisOne = (ofEach.get(name) ?? 0) + octets;
    if (!isStranger) return ofThisOne <= free * OF_AN_ACCOUNT;
    return ofThisOne <= free * OF_A_STRANGER && ofStrangers + octets <= free * OF_STRANGERS;
  };
  const count = (octets: number, { name, isStranger }: BodySender): void => {
    held += octets;
    if (isStranger) ofStrangers += octets;
    const ofThisOne = (ofEach.get(name) ?? 0) + octets;
    if (ofThisOne === 0) ofEach.delete(name);
    else ofEach.set(name, ofThisOne);
  };

  return {
    take(holding, octets) {
      const { reserved, sender } = holding;
      if (reserved === undefined || !hasRoom(octets, sender)) return false;
      count(octets, sender);
      holding.reserved = reserved + octets;
      return true;
    },
    giveBack(holding) {
      count(-(holding.reserved ?? 0), holding.sender);
      holding.reserved = undefined;
    },
  };
}
