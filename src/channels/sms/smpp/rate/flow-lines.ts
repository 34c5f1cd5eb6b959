import { remember } from "../../../../core/work/remember.ts";

/** The messages that wait for one rate, in a line for each flow. The flow that was served longest ago is next. */
export interface FlowLines {
  /** By flow. No line is empty. */
  readonly lines: Map<number, Line>;
  /** When each flow was last served, as a number that rises with each turn; in this order. */
  readonly servedAs: Map<number, number>;
  /** How many turns there have been: the last number in `servedAs`. */
  services: number;
}

interface Line {
  /** Messages of which segments were sent. Only the first of them goes on, until its turn ends. */
  readonly begun: Set<Place>;
  readonly fresh: Set<Place>;
  /** How many segments the messages in `fresh` still have to send. */
  freshLeft: number;
}

/** The place of a message in its flow's line, from when it joins until its turn ends. */
export interface Place {
  readonly flow: number;
  /** How many segments are sent at a time. */
  readonly step: number;
  /** How many segments are still to have their turn. */
  left: number;
  /** Set while it waits for a turn, and called when that comes. */
  go: (() => void) | undefined;
}

export interface JoiningFlow {
  readonly flow: number;
  readonly isBegun: boolean;
  readonly segments: number;
  /** In how many submit_sm its segments are sent. */
  readonly submits: number;
}

/** How many flows are remembered. Others, which were served longest ago, count as never served. */
const MAX_REMEMBERED = 1_000;

export function createFlowLines(): FlowLines {
  return { lines: new Map(), servedAs: new Map(), services: 0 };
}

/** Adds a message to its flow's line. One that was begun is ahead of those that were not. */
export function joinFlow({ lines }: FlowLines, { flow, isBegun, segments, submits }: JoiningFlow): Place {
  const line = lines.get(flow) ?? { begun: new Set(), fresh: new Set(), freshLeft: 0 };
  lines.set(flow, line);
  const place: Place = { flow, step: segments / submits, left: segments, go: undefined };
  (isBegun ? line.begun : line.fresh).add(place);
  if (!isBegun) line.freshLeft += segments;
  return place;
}

export function leaveFlow({ lines }: FlowLines, place: Place): void {
  const line = lines.get(place.flow);
  if (!line) return;
  if (line.fresh.delete(place)) line.freshLeft -= place.left;
  line.begun.delete(place);
  if (line.begun.size + line.fresh.size === 0) lines.delete(place.flow);
}

/** The waiting message whose segment is next. */
export function nextPlace({ lines, servedAs }: FlowLines): Place | undefined {
  let next: Place | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [flow, { begun, fresh }] of lines) {
    const [place] = begun.size > 0 ? begun : fresh;
    const served = servedAs.get(flow) ?? 0;
    if (!place?.go || served >= least) continue;
    next = place;
    least = served;
  }
  return next;
}

/** Notes that one step of the message is being sent. */
export function serve(flows: FlowLines, place: Place): void {
  const { lines, servedAs } = flows;
  const line = lines.get(place.flow);
  if (line?.fresh.delete(place)) {
    line.freshLeft -= place.left;
    line.begun.add(place);
  }
  place.left -= place.step;
  remember(servedAs, [place.flow, ++flows.services], MAX_REMEMBERED);
}

/** How many segments would be sent before the first one of a message that joined the flow now. */
export function segmentsBefore(
  { lines, servedAs }: FlowLines,
  { flow, isBegun }: Pick<JoiningFlow, "flow" | "isBegun">,
): number {
  const served = servedAs.get(flow) ?? 0;
  const own = lines.get(flow);
  const before = own ? leftIn(own) - (isBegun ? own.freshLeft : 0) : 0;
  let segments = before;
  for (const [other, line] of lines) {
    const turns = before + ((servedAs.get(other) ?? 0) <= served ? 1 : 0);
    if (other !== flow) segments += Math.min(leftIn(line), turns);
  }
  return segments;
}

/** How many flows would share the rate if this one were among them. */
export function sharing({ lines }: FlowLines, flow: number): number {
  return lines.size + (lines.has(flow) ? 0 : 1);
}

function leftIn({ begun, freshLeft }: Line): number {
  let left = freshLeft;
  for (const place of begun) left += place.left;
  return left;
}
