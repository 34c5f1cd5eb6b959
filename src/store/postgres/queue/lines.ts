import type { Clock } from "../../../core/clock.ts";
import type { PlaceInLine } from "../../../core/queue/claimed-job.ts";
import type { Database } from "../database/transactions.ts";
import type { Taken } from "./take-jobs.ts";
import { createWholeLooks, type WholeLooks } from "./whole-looks.ts";

/** For how many queues, and for how many flows of each, to remember how far they were claimed. */
const MAX_QUEUES = 10_000;
const MAX_FLOWS = 100;

/** A queue of which this process has taken fewer jobs always has its claims begin at the start: they pass over little. */
const MANY_TAKEN = 10_000;

/** Where a claim begins. */
export interface LineStart {
  /** The flow behind which to begin. */
  readonly after: number;
  /** Of some flows, in order: the place behind which to look. Of the others all places are looked at. */
  readonly floors: readonly PlaceInLine[];
}

/**
 * Where the next claim of each queue begins: at the start of the line, or, where a look from there has been slow, in each flow where
 * the last claim ended; see `WholeLooks`. Then a job that becomes ready before those places, for example since it is tried again or its
 * window is shorter, is found a little later. A claim of few jobs does not come to all flows: those that it did not come to are looked at
 * from their start by the claims that do. Else a flow might never have its turn just when a look from the start is due.
 */
export interface Lines {
  startOf(queue: string): LineStart;
  /** Runs a claim's look for jobs that begins there. */
  timed<T>(queue: string, start: LineStart, look: () => Promise<T>): Promise<T>;
  /** To be called after the commit of a claim. */
  note(queue: string, start: LineStart, noted: Noted): void;
}

export interface Noted extends Pick<Taken, "last" | "lookedTo"> {
  /** Of the jobs that were taken. */
  readonly places: readonly PlaceInLine[];
}

export function createLines(db: Pick<Database, "onOtherServer">, clock: Clock): Lines {
  const lines = new Map<string, Line>();
  // A server that lacks the last transactions may have jobs in line again.
  db.onOtherServer(() => lines.clear());
  const lineOf = (queue: string): Line => {
    const known = lines.get(queue);
    if (known) return known;
    if (lines.size >= MAX_QUEUES) lines.clear();
    const wholeLooks = createWholeLooks(clock);
    const line: Line = { last: -1, taken: 0, flows: new Map(), pending: new Set(), wholeLooks };
    lines.set(queue, line);
    return line;
  };
  return {
    startOf(queue) {
      const line = lineOf(queue);
      const { last, taken, flows, wholeLooks } = line;
      if (taken < MANY_TAKEN || wholeLooks.isDue()) {
        wholeLooks.begin();
        line.pending = new Set(flows.keys());
      }
      const places = [...flows.values()].map(({ place }) => place);
      const floors = places.filter(({ flow }) => !line.pending.has(flow));
      return { after: last, floors: floors.toSorted((one, other) => one.flow - other.flow) };
    },
    async timed(queue, { floors }, look) {
      const line = lineOf(queue);
      if (floors.length === line.flows.size) return look();
      return line.wholeLooks.timed(look).catch((error) => {
        // It may fail each time, as where it takes longer than a statement may.
        line.pending.clear();
        throw error;
      });
    },
    note(queue, { after, floors }, { places, last, lookedTo }) {
      const line = lineOf(queue);
      line.last = last;
      line.taken += places.length;
      const withFloor = new Set(floors.map(({ flow }) => flow));
      for (const flow of line.pending)
        if (!withFloor.has(flow) && isWithin(flow, after, lookedTo)) line.pending.delete(flow);
      for (const place of places) notePlace(line.flows, place);
    },
  };
}

/** Whether a look that begins behind the flow `after`, and goes round, comes to a flow before it ends with the flow `to`. */
function isWithin(flow: number, after: number, to: number): boolean {
  return to > after ? flow > after && flow <= to : flow > after || flow <= to;
}

interface Line {
  last: number;
  taken: number;
  readonly flows: Map<number, Flow>;
  /** Flows that are to be looked at from their start at their next turn. */
  pending: Set<number>;
  readonly wholeLooks: WholeLooks;
}

interface Flow {
  /** Of the last job that was taken. */
  readonly place: PlaceInLine;
  /** How many jobs were taken, roughly: see `notePlace`. */
  readonly taken: number;
}

/** A flow that is not among those that are kept takes the place of the one of which fewest were taken, and its number. */
function notePlace(flows: Map<number, Flow>, place: PlaceInLine): void {
  let taken = flows.get(place.flow)?.taken;
  if (taken === undefined && flows.size >= MAX_FLOWS) {
    const least = leastTaken(flows);
    taken = flows.get(least)?.taken;
    flows.delete(least);
  }
  flows.set(place.flow, { place, taken: (taken ?? 0) + 1 });
}

function leastTaken(flows: ReadonlyMap<number, Flow>): number {
  let [least, fewest] = [-1, Number.POSITIVE_INFINITY];
  for (const [flow, { taken }] of flows) if (taken < fewest) [least, fewest] = [flow, taken];
  return least;
}
