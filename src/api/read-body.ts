import type { Clock } from "../core/clock.ts";
import type { ApiLimits } from "./app-deps.ts";
import {
  payloadTooLarge,
  Refusal,
  requestTimeout,
  serviceUnavailable,
  unsupportedMediaType,
  validationFailed,
} from "./errors.ts";

export interface BodyReader {
  /**
   * The text of a JSON body of at most `maxBytes`. Refuses what is too large (before reading, where
   * `Content-Length` says so), too slow, of another media type or encoding, or not UTF-8.
   */
  read(request: Request, maxBytes: number): Promise<string>;
  /** The same of a body of any media type. */
  readAny(request: Request, maxBytes: number): Promise<string>;
}

export function createBodyReader(clock: Clock, limits: ApiLimits): BodyReader {
  const within = createDeadlines(clock, limits.bodyTimeoutMs);
  let held = 0;

  const reserve = (bytes: number) => {
    if (held + bytes > limits.maxBodyBytesInFlight) throw serviceUnavailable();
    held += bytes;
  };

  const readAny = (request: Request, maxBytes: number): Promise<string> => {
    const { headers } = request;
    if (!isPlain(headers.get("content-encoding"))) throw unsupportedMediaType();
    const length = declaredLength(headers.get("content-length"));
    if (length !== undefined && length > maxBytes) throw payloadTooLarge();
    const reserved = length ?? maxBytes;
    reserve(reserved);
    const bytes = length === undefined ? readChunks(request, maxBytes) : request.arrayBuffer();
    return within(bytes, () => {
      held -= reserved;
    });
  };

  return {
    read(request, maxBytes) {
      if (!isJson(request.headers.get("content-type"))) throw unsupportedMediaType();
      return readAny(request, maxBytes);
    },
    readAny,
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

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(
  octets: ArrayBuffer | Uint8Array,
  resolve: (text: string) => void,
  reject: (refusal: Refusal) => void,
): void {
  try {
    resolve(utf8.decode(octets));
  } catch {
    reject(validationFailed({ body: "must be UTF-8" }));
  }
}

/** The text of `bytes`, or a refusal when they take too long; what they still do then is of no interest. `done` runs at the end of the wait. */
type Within = (bytes: Promise<ArrayBuffer | Uint8Array>, done: () => void) => Promise<string>;

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

  return (bytes, done) =>
    new Promise((resolve, reject) => {
      const leave = () => {
        if (waiting.delete(entry)) done();
      };
      const giveUp = () => {
        leave();
        reject(requestTimeout());
      };
      const entry = { since: ticks, giveUp };
      waiting.add(entry);
      if (!isTicking) startTicking();
      bytes.then(
        (octets) => {
          leave();
          decode(octets, resolve, reject);
        },
        (error) => {
          leave();
          // What goes wrong while reading is the client's going away; nobody hears this answer.
          reject(error instanceof Refusal ? error : validationFailed({ body: "could not be read" }));
        },
      );
    });
}
