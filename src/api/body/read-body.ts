/** Reads request bodies, within limits of size, time and memory. */
import type { Clock } from "../../core/clock.ts";
import { LARGE_BODY } from "../../core/email/large-body.ts";
import type { ApiLimits } from "../app-deps.ts";
import {
  payloadTooLarge,
  type Refusal,
  serviceUnavailable,
  unsupportedEncoding,
  unsupportedMediaType,
  validationFailed,
} from "../errors.ts";
import { type BodyBudget, type BodyClient, createBodyBudget, type Reservation } from "./body-budget.ts";
import { decodeUtf8, type JsonBody, type ReadLargeJson } from "./read-json.ts";
import { createReadings, type Decode, type IncomingBody, type Octets, type ReadBody } from "./readings.ts";

export interface BodyReader {
  /**
   * Reads a body, whose memory stays reserved until `release` is called. Refuses one that is too large (before reading it, if
   * `Content-Length` says so), too slow, of another media type or encoding, or not UTF-8.
   */
  read(request: Request, rule: BodyRule, client: BodyClient): Promise<ReadBody>;
  /** To be called once the request has been answered. */
  release(body: ReadBody): void;
}

/** Which bodies an endpoint takes. */
export interface BodyRule {
  /** Octets. */
  readonly maxBytes: number;
  /** Of any media type; absent: JSON. */
  readonly isRaw?: boolean;
  /** No body may come, whatever type it says that it has. */
  readonly mayBeAbsent?: boolean;
}

export function createBodyReader(clock: Clock, limits: ApiLimits, readLargeJson?: ReadLargeJson): BodyReader {
  const budget = createBodyBudget(limits.maxBodyBytesInFlight);
  const decode: Decode = (octets, { reservation, isRaw }) => {
    const { byteLength } = octets;
    if (readLargeJson && !isRaw && byteLength >= LARGE_BODY)
      return readOnThread(readLargeJson, octets).then((body) => ({ ...body, reservation }));
    const text = decodeText(octets);
    if (byteLength <= MIN_RESERVED) budget.release(reservation);
    return { text, reservation };
  };
  const readings = createReadings(clock, limits.bodyTimeoutMs, { decode, release: budget.release });

  const begin = (
    request: Request,
    { maxBytes, isRaw = false, mayBeAbsent = false }: BodyRule,
    client: BodyClient,
  ): IncomingBody => {
    const { headers } = request;
    const length = declaredLength(headers.get("content-length"));
    const isAbsent = mayBeAbsent && (length === 0 || request.body === null);
    if (!isRaw && !isAbsent && !isJson(headers.get("content-type"))) throw unsupportedMediaType();
    if (!isPlain(headers.get("content-encoding"))) throw unsupportedEncoding();
    if (length !== undefined && length > maxBytes) {
      throw payloadTooLarge(maxBytes, { isRestTooLong: length > MAX_DROPPED });
    }
    const reservation = { client, octets: 0 };
    if (!budget.reserve(reservation, Math.max(length ?? 0, MIN_RESERVED))) throw serviceUnavailable();
    const octets =
      length === undefined ? readChunks(request, maxBytes, { budget, reservation }) : request.arrayBuffer();
    return { octets, reservation, request, isRaw };
  };

  return {
    read: (request, rule, client) => readings.add(begin(request, rule, client)),
    release: ({ reservation }) => budget.release(reservation),
  };
}

/**
 * Octets reserved for every body, however small, so that one client's small bodies cannot fill `maxInFlight`. Bodies up to
 * this size are released as soon as they are read: `maxInFlight` already bounds their memory.
 */
const MIN_RESERVED = 12 * 1024;

/** Up to this many octets of a body that is too large are read and dropped, so that its client gets to the answer. */
const MAX_DROPPED = 256 * 1024 * 1024;

const JSON_TYPE = /^\s*application\/(?:json|[\w.!#$&^+-]+\+json)\s*(?:;|$)/i;

/** A body without a Content-Type counts as JSON. */
function isJson(type: string | null): boolean {
  return type === null || type === "application/json" || JSON_TYPE.test(type);
}

function isPlain(encoding: string | null): boolean {
  return encoding === null || encoding.toLowerCase() === "identity";
}

/** Octets, by `Content-Length`. The listener joins a header that is repeated with the same value (RFC 9110 §8.6): `5, 5`. */
function declaredLength(value: string | null): number | undefined {
  return value === null ? undefined : Number.parseInt(value, 10);
}

interface ReservedIn {
  readonly budget: BodyBudget;
  readonly reservation: Reservation;
}

/** Reads a body of unknown length, and reserves its octets as they arrive. */
async function readChunks(request: Request, maxBytes: number, reserved: ReservedIn): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array(0);
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.byteLength;
    let refusal: Refusal | undefined;
    if (size > maxBytes) refusal = payloadTooLarge(maxBytes);
    else if (!reserveUpTo(size, reserved)) refusal = serviceUnavailable();
    if (refusal) {
      // What is left of it is dropped before the answer.
      reader.releaseLock();
      throw refusal;
    }
    chunks.push(step.value);
  }
  return Buffer.concat(chunks, size);
}

/** Reserves what a body of this size still lacks. False if there is no room, or if the body has been given up. */
function reserveUpTo(size: number, { budget, reservation }: ReservedIn): boolean {
  const { octets = 0 } = reservation;
  return size <= octets || budget.reserve(reservation, size - octets + MIN_RESERVED);
}

function decodeText(octets: Octets): string {
  const text = decodeUtf8(octets);
  if (text === undefined) throw validationFailed(NOT_UTF8);
  return text;
}

async function readOnThread(readLargeJson: ReadLargeJson, octets: Octets): Promise<JsonBody> {
  const body = await readLargeJson(octets);
  if (!body) throw validationFailed(NOT_UTF8);
  return body;
}

const NOT_UTF8 = { body: "must be UTF-8" };
