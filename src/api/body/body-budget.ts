/**
 * Bounds the memory that request bodies take. Each client may hold at most a fixed multiple of what is still free, so
 * however many clients send at once, some of the budget stays free for the next one.
 */

/** The client that sends a body. */
export interface BodyClient {
  /** The account of its key, or its address block if it sends without a key. */
  readonly name: string;
  /** It sends without a key. */
  readonly isAnonymous: boolean;
}

/** What one body takes of the budget. */
export interface Reservation {
  readonly client: BodyClient;
  /** `undefined` once it is released. */
  octets: number | undefined;
}

export interface BodyBudget {
  /** Adds to a reservation. False, and nothing is added, if there is no room or the reservation is released. */
  reserve(reservation: Reservation, octets: number): boolean;
  /** Does nothing if it is released already. */
  release(reservation: Reservation): void;
}

/** How many octets an account may hold for each free one: up to three quarters of the budget if nobody else sends. */
const ACCOUNT_PER_FREE = 3;
/** The same for all anonymous clients together: up to half of the budget. */
const ALL_ANONYMOUS_PER_FREE = 1;
/** The same for one anonymous client: up to an eighth of the budget. */
const ANONYMOUS_PER_FREE = 1 / 7;

export function createBodyBudget(maxBytes: number): BodyBudget {
  const heldByName = new Map<string, number>();
  let heldByAnonymous = 0;
  let held = 0;

  const hasRoom = (octets: number, { name, isAnonymous }: BodyClient): boolean => {
    const free = maxBytes - held - octets;
    const heldByClient = (heldByName.get(name) ?? 0) + octets;
    if (!isAnonymous) return heldByClient <= free * ACCOUNT_PER_FREE;
    return (
      heldByClient <= free * ANONYMOUS_PER_FREE && heldByAnonymous + octets <= free * ALL_ANONYMOUS_PER_FREE
    );
  };
  const count = (octets: number, { name, isAnonymous }: BodyClient): void => {
    held += octets;
    if (isAnonymous) heldByAnonymous += octets;
    const heldByClient = (heldByName.get(name) ?? 0) + octets;
    if (heldByClient === 0) heldByName.delete(name);
    else heldByName.set(name, heldByClient);
  };

  return {
    reserve(reservation, octets) {
      if (reservation.octets === undefined || !hasRoom(octets, reservation.client)) return false;
      count(octets, reservation.client);
      reservation.octets += octets;
      return true;
    },
    release(reservation) {
      if (reservation.octets === undefined) return;
      count(-reservation.octets, reservation.client);
      reservation.octets = undefined;
    },
  };
}
