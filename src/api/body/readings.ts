/** The bodies that are arriving. Each has a time limit, and those that complete in one turn are decoded together. */
import type { Clock } from "../../core/clock.ts";
import { turnEnd } from "../../core/work/turn-end.ts";
import { isClientGone } from "../client-gone.ts";
import { clientGone, Refusal, requestTimeout } from "../errors.ts";
import type { BodyBudget, Reservation } from "./body-budget.ts";

export type Octets = ArrayBuffer | Uint8Array;

/** A body that is arriving, and its reservation in the budget. */
export interface IncomingBody {
  readonly octets: Promise<Octets>;
  readonly reservation: Reservation;
  readonly request: Request;
}

/** Makes a value from a body's octets. If the value is an object, its receiver releases the reservation. */
export type Decode<T> = (octets: Octets, reservation: Reservation) => T | Promise<T>;

export interface Readings {
  /**
   * Resolves with what `decode` makes of the octets once they have arrived. Refuses a body that takes too long, and ignores
   * it from then on. Releases the reservation, except for values whose receiver does (see `Decode`).
   */
  add<T>(body: IncomingBody, decode: Decode<T>): Promise<T>;
}

export function createReadings(clock: Clock, timeoutMs: number, release: Release): Readings {
  const pending = createPending(clock, timeoutMs, (late) => refuse(late, requestTimeout()));
  const decodeInStep = createStep(release);

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
    add: <T>(body: IncomingBody, decode: Decode<T>) => {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const reading: Reading = {
        startTick: pending.tick(),
        body,
        decode,
        resolve: resolve as Reading["resolve"],
        reject,
      };
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
  readonly decode: Decode<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  octets?: Octets;
}

type Release = BodyBudget["release"];

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
function createStep(release: Release): (reading: Reading) => void {
  let arrived: Reading[] = [];
  const decodeAll = () => {
    const all = arrived;
    arrived = [];
    for (const reading of all) decodeOne(reading, release);
  };
  return (reading) => {
    if (arrived.push(reading) === 1) turnEnd.first(decodeAll);
  };
}

function decodeOne({ decode, octets, body, resolve, reject }: Reading, release: Release): void {
  const fail = (error: unknown) => {
    release(body.reservation);
    reject(error);
  };
  try {
    if (isClientGone(body.request)) throw clientGone();
    const value = octets && decode(octets, body.reservation);
    if (value instanceof Promise) return void value.then(resolve, fail);
    resolve(value);
    if (typeof value !== "object") release(body.reservation);
  } catch (error) {
    fail(error);
  }
}
