/** The bodies that are arriving. Each has a time limit, and those that complete in one turn are decoded together. */
import type { Clock } from "../../core/clock.ts";
import { turnEnd } from "../../core/work/turn-end.ts";
import { isClientGone } from "../client-gone.ts";
import { clientGone, Refusal, requestTimeout } from "../errors.ts";
import type { BodyBudget, Reservation } from "./body-budget.ts";
import type { ParsedJson } from "./parse-json-object.ts";

export type Octets = ArrayBuffer | Uint8Array;

/** A body that is arriving, and its reservation in the budget. */
export interface IncomingBody {
  readonly octets: Promise<Octets>;
  readonly reservation: Reservation;
  readonly request: Request;
  /** Of any media type; otherwise JSON. */
  readonly isRaw: boolean;
}

/** A body that has been read. It holds its reservation until its request has been answered. */
export interface ReadBody {
  readonly text: string;
  /** Absent if the text has not been parsed yet. */
  readonly parsed?: ParsedJson;
  readonly reservation: Reservation;
}

/** Makes the text of a body's octets. */
export type Decode = (octets: Octets, body: IncomingBody) => ReadBody | Promise<ReadBody>;

export interface Readings {
  /**
   * Resolves with the body once it has arrived. Refuses a body that takes too long, and ignores it from then on; releases the
   * reservation of what it refuses.
   */
  add(body: IncomingBody): Promise<ReadBody>;
}

interface ReadingParts {
  readonly decode: Decode;
  readonly release: BodyBudget["release"];
}

export function createReadings(clock: Clock, timeoutMs: number, parts: ReadingParts): Readings {
  const { release } = parts;
  const pending = createPending(clock, timeoutMs, (late) => refuse(late, requestTimeout()));
  const decodeInStep = createStep(parts);

  const arrive = (reading: Reading, octets: Octets) => {
    if (!pending.remove(reading)) return;
    reading.octets = octets;
    decodeInStep(reading);
  };
  const refuse = (reading: Reading, refusal: Refusal) => {
    if (!pending.remove(reading)) return;
    release(reading.body.reservation);
    reading.reject(refusal);
  };

  return {
    add(body) {
      const { promise, resolve, reject } = Promise.withResolvers<ReadBody>();
      const reading: Reading = { startTick: pending.tick(), body, resolve, reject };
      pending.add(reading);
      body.octets.then(
        (octets) => arrive(reading, octets),
        (error) => refuse(reading, error instanceof Refusal ? error : clientGone()),
      );
      return promise;
    },
  };
}

interface Reading {
  readonly startTick: number;
  readonly body: IncomingBody;
  readonly resolve: (body: ReadBody) => void;
  readonly reject: (error: unknown) => void;
  octets?: Octets;
}

/** A timeout is counted in this many ticks, so it is exact to one tick. */
const TICKS = 8;

/** The readings whose bodies are still arriving, with one timer for all: a timer each would cost more than reading a small body. */
function createPending(clock: Clock, timeoutMs: number, onLate: (reading: Reading) => void) {
  const pending = new Set<Reading>();
  let tick = 0;
  let isTicking = false;

  const startTicking = () => {
    isTicking = true;
    clock.after(timeoutMs / TICKS, onTick);
  };
  const onTick = () => {
    tick++;
    isTicking = false;
    for (const reading of pending) if (tick - reading.startTick >= TICKS) onLate(reading);
    if (pending.size > 0) startTicking();
  };
  return {
    tick: () => tick,
    add(reading: Reading): void {
      pending.add(reading);
      if (!isTicking) startTicking();
    },
    /** False if the reading is not pending any more. */
    remove: (reading: Reading) => pending.delete(reading),
  };
}

/** Decodes all bodies that arrived in one turn of the event loop together, in the first step of `turnEnd`. */
function createStep(parts: ReadingParts): (reading: Reading) => void {
  let arrived: Reading[] = [];
  const decodeAll = () => {
    const all = arrived;
    arrived = [];
    for (const reading of all) decodeOne(reading, parts);
  };
  return (reading) => {
    if (arrived.push(reading) === 1) turnEnd.first(decodeAll);
  };
}

function decodeOne({ octets, body, resolve, reject }: Reading, { decode, release }: ReadingParts): void {
  const fail = (error: unknown) => {
    release(body.reservation);
    reject(error);
  };
  try {
    if (isClientGone(body.request)) throw clientGone();
    const read = octets && decode(octets, body);
    if (read instanceof Promise) read.then(resolve, fail);
    else if (read) resolve(read);
  } catch (error) {
    fail(error);
  }
}
