import type { Clock } from "../core/clock.ts";
import { LARGE_BODY } from "../core/large-body.ts";
import { turns } from "../core/turns.ts";
import type { ApiLimits } from "./app-deps.ts";
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
   * The text of a JSON body of at most `maxBytes`; of a large one, where it can be read aside, also what it says.
   * Refuses what is too large (before reading, where `Content-Length` says so), too slow, of another media type or
   * encoding, or not UTF-8.
   */
  read(request: Request, maxBytes: number): Promise<string | JsonBody>;
  /** The text of a body of any media type. */
  readAny(request: Request, maxBytes: number): Promise<string>;
}

type Octets = ArrayBuffer | Uint8Array;

export function createBodyReader(clock: Clock, limits: ApiLimits, aside?: ReadJsonAside): BodyReader {
  const within = createDeadlines(clock, limits.bodyTimeoutMs);
  const judge = (octets: Octets) =>
    aside && octets.byteLength >= LARGE_BODY ? readAside(aside, octets) : decode(octets);
  let held = 0;

  const reserve = (bytes: number) => {
    if (held + bytes > limits.maxBodyBytesInFlight) throw serviceUnavailable();
    held += bytes;
  };

  const readAs = <T>(request: Request, maxBytes: number, read: (octets: Octets) => T | Promise<T>) => {
    const { headers } = request;
    if (!isPlain(headers.get("content-encoding"))) throw unsupportedMediaType();
    const length = declaredLength(headers.get("content-length"));
    if (length !== undefined && length > maxBytes) throw payloadTooLarge();
    const reserved = length ?? (request.body ? maxBytes : 0);
    reserve(reserved);
    const bytes = length === undefined ? readChunks(request, maxBytes) : request.arrayBuffer();
    return within(bytes, read, () => {
      held -= reserved;
    });
  };

  return {
    read(request, maxBytes) {
      if (!isJson(request.headers.get("content-type"))) throw unsupportedMediaType();
      return readAs<string | JsonBody>(request, maxBytes, judge);
    },
    readAny: (request, maxBytes) => readAs(request, maxBytes, decode),
  };
}

const JSON_TYPE = /^\s*application\/(?:json|[\w.!#$&^+-]+\+json)\s*(?:;|$)/i;

/** No Content-Type at all is taken for JSON. */
function isJson(type: string | null): boolean {
  return type === null || type === "application/json" || JSON_TYPE.test(type);
}

function isPlain(encoding: string | null): boolean {
  return encoding === null || encoding.toLowerCase() === "identity";
}

function declaredLength(value: string | null): number | undefined {
  return value === null ? undefined : Number(value);
}

/** A body of unknown length, counted while it arrives. */
async function readChunks(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array(0);
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.byteLength;
    if (size > maxBytes) {
      reader.cancel().catch(() => {});
      throw payloadTooLarge();
    }
    chunks.push(step.value);
  }
  return Buffer.concat(chunks, size);
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

/** What `read` makes of `bytes`, or a refusal when they take too long; what they still do then is of no interest. `done` runs at the end of it all. */
type Within = <T>(
  bytes: Promise<Octets>,
  read: (octets: Octets) => T | Promise<T>,
  done: () => void,
) => Promise<T>;

/** Ticks that a reading may see go by, give or take the one it began in. */
const TICKS = 8;

/** One timer for all who wait, since one per request would cost more than reading a small body. */
function createDeadlines(clock: Clock, timeoutMs: number): Within {
  const waiting = new Set<{ readonly since: number; readonly giveUp: () => void }>();
  let ticks = 0;
  let isTicking = false;

  const startTicking = () => {
    isTicking = true;
    clock.after(timeoutMs / TICKS, tick);
  };
  const tick = () => {
    ticks++;
    isTicking = false;
    for (const one of waiting) if (ticks - one.since >= TICKS) one.giveUp();
    if (waiting.size > 0) startTicking();
  };

  return <T>(bytes: Promise<Octets>, read: (octets: Octets) => T | Promise<T>, done: () => void) =>
    new Promise<T>((resolve, reject) => {
      const giveUp = () => {
        if (waiting.delete(entry)) done();
        reject(requestTimeout());
      };
      const entry = { since: ticks, giveUp };
      waiting.add(entry);
      if (!isTicking) startTicking();
      bytes.then(
        (octets) => {
          if (waiting.delete(entry))
            turns.inStep(() => settle(() => read(octets), { resolve, reject, done }));
        },
        (error) => {
          if (waiting.delete(entry)) done();
          // What goes wrong while reading is the client's going away; nobody hears this answer.
          reject(error instanceof Refusal ? error : validationFailed({ body: "could not be read" }));
        },
      );
    });
}

interface Outcome<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
  readonly done: () => void;
}

/** At once, unless it takes its time. */
function settle<T>(read: () => T | Promise<T>, { resolve, reject, done }: Outcome<T>): void {
  try {
    const value = read();
    if (value instanceof Promise) return void value.finally(done).then(resolve, reject);
    done();
    resolve(value);
  } catch (error) {
    done();
    reject(error);
  }
}
