/** Reads request bodies, within limits of size, time and memory. */
import type { Clock } from "../core/clock.ts";
import { LARGE_BODY } from "../core/email/large-body.ts";
import { turns } from "../core/turns.ts";
import type { ApiLimits } from "./app-deps.ts";
import { type BodyBudget, type BodySender, createBodyBudget, type Holding } from "./body-budget.ts";
import { isLastRequest } from "./drop-body.ts";
import {
  payloadTooLarge,
  Refusal,
  requestTimeout,
  serviceUnavailable,
  unsupportedMediaType,
  validationFailed,
} from "./errors.ts";
import { decodeUtf8, type JsonBody, type ReadJsonAside } from "./read-json.ts";

export interface BodyReader {
  /**
   * The text of a JSON body of at most `maxBytes`, or a held body. Refuses a body that is too large (before reading it, if
   * `Content-Length` says so), too slow, of another media type or encoding, or not UTF-8.
   */
  read(request: Request, maxBytes: number, sender: BodySender): Promise<string | HeldBody>;
  /** The text of a body of any media type. */
  readAny(request: Request, maxBytes: number, sender: BodySender): Promise<string>;
}

/** A body that takes its part of the memory for bodies until it is given back, when its request has been answered. */
export interface HeldBody {
  readonly text: string;
  /** Absent if nobody has parsed it yet. */
  readonly parsed?: JsonBody["parsed"];
  giveBack(): void;
}

type Octets = ArrayBuffer | Uint8Array;

export function createBodyReader(clock: Clock, limits: ApiLimits, aside?: ReadJsonAside): BodyReader {
  const budget = createBodyBudget(limits.maxBodyBytesInFlight);
  const judge: Judge<string | HeldBody> = (octets, holding) => {
    const { byteLength } = octets;
    const giveBack = () => budget.giveBack(holding);
    if (aside && byteLength >= LARGE_BODY)
      return readAside(aside, octets).then((body) => ({ ...body, giveBack }));
    const text = decode(octets);
    return byteLength <= LEAST ? text : { text, giveBack };
  };
  const readings = createReadings(clock, limits.bodyTimeoutMs, budget.giveBack);

  const begin = (request: Request, maxBytes: number, sender: BodySender): Begun => {
    const { headers } = request;
    if (!isPlain(headers.get("content-encoding"))) throw unsupportedMediaType();
    const length = declaredLength(headers.get("content-length"));
    if (length !== undefined && length > maxBytes) {
      throw payloadTooLarge({ isRestTooLong: length > MOST_DROPPED });
    }
    const holding = { sender, reserved: 0 };
    if (!budget.take(holding, Math.max(length ?? 0, LEAST))) throw serviceUnavailable();
    const octets =
      length === undefined ? readChunks(request, maxBytes, { budget, holding }) : request.arrayBuffer();
    return { octets, holding };
  };

  return {
    read(request, maxBytes, sender) {
      if (!isJson(request.headers.get("content-type"))) throw unsupportedMediaType();
      return readings.add(begin(request, maxBytes, sender), judge);
    },
    readAny: (request, maxBytes, sender) => readings.add(begin(request, maxBytes, sender), decode),
  };
}

/** A body that is arriving, and what it takes of the budget. */
interface Begun {
  readonly octets: Promise<Octets>;
  readonly holding: Holding;
}

/**
 * Octets that a body takes at least, so that one sender's small ones cannot fill `maxInFlight`. A body of no more is not held
 * until its answer, since `maxInFlight` bounds what those take.
 */
const LEAST = 12 * 1024;

/** Octets of a body that is too large which the listener reads and drops after the answer. */
const MOST_DROPPED = 256 * 1024 * 1024;

/** Makes a value of a body's octets. If that is an object, it gives back their part of the budget. */
type Judge<T> = (octets: Octets, holding: Holding) => T | Promise<T>;

const JSON_TYPE = /^\s*application\/(?:json|[\w.!#$&^+-]+\+json)\s*(?:;|$)/i;

/** A body without a Content-Type is taken for JSON. */
function isJson(type: string | null): boolean {
  return type === null || type === "application/json" || JSON_TYPE.test(type);
}

function isPlain(encoding: string | null): boolean {
  return encoding === null || encoding.toLowerCase() === "identity";
}

/** The listener lets a header pass that is repeated with the same value (RFC 9110 §8.6), and joins them: `5, 5`. */
function declaredLength(value: string | null): number | undefined {
  return value === null ? undefined : Number.parseInt(value, 10);
}

/** The budget, and the part of it that a body holds. */
interface Room {
  readonly budget: BodyBudget;
  readonly holding: Holding;
}

/** A body of unknown length, counted while it arrives: what it may become yet takes no room. */
async function readChunks(request: Request, maxBytes: number, room: Room): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array(0);
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.byteLength;
    const refusal =
      size > maxBytes ? payloadTooLarge() : hasRoomFor(size, room) ? undefined : serviceUnavailable();
    if (refusal) {
      if (isLastRequest(request)) reader.releaseLock();
      else reader.cancel().catch(() => {});
      throw refusal;
    }
    chunks.push(step.value);
  }
  return Buffer.concat(chunks, size);
}

/** False if there is no room, or if the body is not waited for any more. */
function hasRoomFor(size: number, { budget, holding }: Room): boolean {
  const { reserved = 0 } = holding;
  return size <= reserved || budget.take(holding, size - reserved + LEAST);
}

function decode(octets: Octets): string {
  const text = decodeUtf8(octets);
  if (text === undefined) throw validationFailed(NOT_UTF8);
  return text;
}

async function readAside(aside: ReadJsonAside, octets: Octets): Promise<JsonBody> {
  const body = await aside(octets);
  if (!body) throw validationFailed(NOT_UTF8);
  return body;
}

const NOT_UTF8 = { body: "must be UTF-8" };

interface Readings {
  /**
   * What `judge` makes of the octets once they are there. Refuses a body that takes too long, and ignores it from then on.
   * Gives back the body's part of the budget in the end, if what it resolves with does not.
   */
  add<T>(body: Begun, judge: Judge<T>): Promise<T>;
}

interface Reading {
  /** The tick in which it began. */
  readonly since: number;
  readonly body: Begun;
  readonly judge: Judge<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  octets?: Octets;
}

type GiveBack = BodyBudget["giveBack"];

function createReadings(clock: Clock, timeoutMs: number, giveBack: GiveBack): Readings {
  const waiting = createWaiting(clock, timeoutMs, (late) => refuse(late, requestTimeout()));
  const judgeInStep = createStep(giveBack);

  const arrive = (reading: Reading, octets: Octets) => {
    if (!waiting.remove(reading)) return;
    reading.octets = octets;
    judgeInStep(reading);
  };
  const refuse = (reading: Reading, refusal: Refusal) => {
    if (!waiting.remove(reading)) return;
    giveBack(reading.body.holding);
    reading.reject(refusal);
  };

  return {
    add: <T>(body: Begun, judge: Judge<T>) => {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const reading: Reading = {
        since: waiting.ticks(),
        body,
        judge,
        resolve: resolve as Reading["resolve"],
        reject,
      };
      waiting.add(reading);
      body.octets.then(
        (came) => arrive(reading, came),
        // Any other error means that the client has gone: nobody receives this answer.
        (error) => refuse(reading, error instanceof Refusal ? error : validationFailed(NOT_READ)),
      );
      return promise;
    },
  };
}

const NOT_READ = { body: "could not be read" };

/** Ticks in the time that a reading may take; exact to one tick. */
const TICKS = 8;

/** One timer for all readings, since one each would cost more than reading a small body. */
function createWaiting(clock: Clock, timeoutMs: number, onLate: (reading: Reading) => void) {
  const waiting = new Set<Reading>();
  let ticks = 0;
  let isTicking = false;

  const startTicking = () => {
    isTicking = true;
    clock.after(timeoutMs / TICKS, tick);
  };
  const tick = () => {
    ticks++;
    isTicking = false;
    for (const one of waiting) if (ticks - one.since >= TICKS) onLate(one);
    if (waiting.size > 0) startTicking();
  };
  return {
    ticks: () => ticks,
    add(reading: Reading): void {
      waiting.add(reading);
      if (!isTicking) startTicking();
    },
    /** False if the reading does not wait any more. */
    remove: (reading: Reading) => waiting.delete(reading),
  };
}

/** Judges all bodies that arrived in one turn of the event loop together, in the first step of `turns`. */
function createStep(giveBack: GiveBack): (reading: Reading) => void {
  let arrived: Reading[] = [];
  const judgeAll = () => {
    const all = arrived;
    arrived = [];
    for (const reading of all) judgeOne(reading, giveBack);
  };
  return (reading) => {
    if (arrived.push(reading) === 1) turns.inStep(judgeAll);
  };
}

function judgeOne({ judge, octets, body, resolve, reject }: Reading, giveBack: GiveBack): void {
  const fail = (error: unknown) => {
    giveBack(body.holding);
    reject(error);
  };
  try {
    const value = octets && judge(octets, body.holding);
    if (value instanceof Promise) return void value.then(resolve, fail);
    resolve(value);
    if (typeof value !== "object") giveBack(body.holding);
  } catch (error) {
    fail(error);
  }
}
