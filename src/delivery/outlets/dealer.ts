import type { Choice, Offer } from "./choose-outlets.ts";
import type { Outlet } from "./outlet.ts";

/** One message in so many goes to a connector that is passed over for its health. */
const PROBE_EVERY = 20;

/** Room reserved at a route's outlets, to be dealt out message by message. */
export interface Hand {
  /** Messages that may be claimed for it. */
  readonly size: number;
  /** Turns one reservation into the outlet of the next message; `undefined` when there is none left. */
  deal(): Outlet | undefined;
  /** Gives back what was not dealt. */
  close(): void;
}

/** Deals by weight, from one hand to the next: a share that was small in this one is made up for in later ones. */
export interface Dealer {
  /** Reserves room for at most `limit`; `undefined` where there is none. A full outlet leaves its share to the others. */
  open(choice: Choice, limit: number): Hand | undefined;
}

export function createDealer(): Dealer {
  const credits = new Map<string, number>();
  let dealt = 0;
  return {
    open({ sharing, probed }, limit) {
      const seats = sharing.map((offer) => takeSeat(offer, limit)).filter(({ left }) => left > 0);
      const size = Math.min(limit, sum(seats));
      if (size <= 0) return undefined;
      const most = Math.ceil(size / PROBE_EVERY);
      const probes = probed.map((outlet) => takeSeat({ outlet, weight: 1 }, most));
      keepOnly(credits, seats);
      return {
        size,
        deal() {
          const isProbe = probes.length > 0 && ++dealt % PROBE_EVERY === 0;
          const seat = (isProbe && probes.find(({ left }) => left > 0)) || nextByWeight(seats, credits);
          if (seat) seat.left -= 1;
          return seat?.outlet;
        },
        close() {
          for (const seat of [...seats, ...probes]) seat.outlet.unreserve(Math.max(0, seat.left));
        },
      };
    },
  };
}

interface Seat extends Offer {
  left: number;
}

function takeSeat(offer: Offer, most: number): Seat {
  const left = Math.max(0, Math.min(most, offer.outlet.available()));
  offer.outlet.reserve(left);
  return { ...offer, left };
}

function sum(seats: readonly Seat[]): number {
  return seats.reduce((total, { left }) => total + left, 0);
}

/** Smooth weighted round-robin: every seat earns its weight, the richest serves and pays for all. */
function nextByWeight(seats: readonly Seat[], credits: Map<string, number>): Seat | undefined {
  const [first] = seats;
  if (seats.length === 1) return first && first.left > 0 ? first : undefined;
  const open = seats.filter(({ left }) => left > 0);
  let total = 0;
  let richest: Seat | undefined;
  for (const seat of open) {
    const earned = creditOf(seat, credits) + seat.weight;
    credits.set(seat.outlet.channel.connectorId, earned);
    total += seat.weight;
    if (!richest || earned > creditOf(richest, credits)) richest = seat;
  }
  if (richest) credits.set(richest.outlet.channel.connectorId, creditOf(richest, credits) - total);
  return richest;
}

function creditOf({ outlet }: Seat, credits: ReadonlyMap<string, number>): number {
  return credits.get(outlet.channel.connectorId) ?? 0;
}

/** Who is full or gone neither saves up nor is remembered. */
function keepOnly(credits: Map<string, number>, seats: readonly Seat[]): void {
  const ids = new Set(seats.map(({ outlet }) => outlet.channel.connectorId));
  for (const id of credits.keys()) if (!ids.has(id)) credits.delete(id);
}
