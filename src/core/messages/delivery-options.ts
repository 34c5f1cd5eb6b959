/** The fields that sending an SMS and sending an email share: callback, schedule, tags, metadata. */
import Type from "typebox";
import { isExactNumber, NOT_EXACT } from "../body/exact-number.ts";
import type { ErrorCollector } from "../body/field-errors.ts";
import { isLonger, isStorable, NOT_STORABLE } from "../body/text-rules.ts";
import { DAY_MS } from "../time/durations.ts";
import { NOT_A_TIMESTAMP, parseTimestamp } from "../time/timestamp.ts";
import { callbackProblem } from "../webhooks/callback-url.ts";
import type { Writable } from "../writable.ts";

export interface DeliveryOptions {
  readonly callbackUrl?: string;
  /** Unix milliseconds, in the future. */
  readonly scheduleAt?: number;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const deliveryOptionFields = {
  callback_url: Type.Optional(
    Type.String({
      format: "uri",
      pattern: "^https://",
      maxLength: 2048,
      description: "Receives delivery status webhooks for this message; must start with `https://`.",
      examples: ["https://example.com/hooks/delivery"],
    }),
  ),
  schedule_at: Type.Optional(
    Type.String({
      format: "date-time",
      description:
        "When to send: an ISO 8601 time with `Z` or an offset, in the future and at most 7 days ahead.",
      examples: ["2026-01-15T17:30:00+05:30"],
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 10,
      description: "At most 10 tags of at most 256 characters.",
      examples: [["otp", "login"]],
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown>>(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            "Custom key-value pairs, passed through to delivery webhooks; at most 16384 characters of JSON, nested at most 20 " +
            "levels deep, numbers below 2^53.",
          examples: [{ order_id: "A-1001" }],
        },
      ),
    ),
  ),
};

interface ValidOptions {
  readonly callback_url?: string | undefined;
  readonly schedule_at?: string | undefined;
  readonly tags?: readonly (string | undefined)[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Checks what the schema cannot express. The value only counts if no problem was reported. */
export function parseDeliveryOptions(valid: ValidOptions, judging: Judging): DeliveryOptions {
  const options: Writable<DeliveryOptions> = {};
  addDeliveryOptions(options, valid, judging);
  return options;
}

interface Judging {
  readonly errors: ErrorCollector;
  readonly now: number;
}

/** Like `parseDeliveryOptions`, but adds the options to `into`, which is being made from the body. */
export function addDeliveryOptions(
  into: Writable<DeliveryOptions>,
  { callback_url: callbackUrl, schedule_at: scheduleAt, tags, metadata }: ValidOptions,
  { errors, now }: Judging,
): void {
  if (callbackUrl !== undefined) {
    report(errors, "callback_url", callbackProblem(callbackUrl));
    into.callbackUrl = callbackUrl;
  }
  if (metadata !== undefined) {
    report(errors, "metadata", metadataProblem(metadata));
    into.metadata = metadata;
  }
  const at = scheduleAt === undefined ? undefined : parseSchedule(scheduleAt, { errors, now });
  if (at !== undefined) into.scheduleAt = at;
  if (tags !== undefined) into.tags = parseTags(tags, errors);
}

const LATEST_SCHEDULE_MS = 7 * DAY_MS;
const MAX_METADATA_LENGTH = 16_384;
const MAX_METADATA_DEPTH = 20;

function report(errors: ErrorCollector, field: string, problem: string | undefined): void {
  if (problem !== undefined) errors.add(field, problem);
}

function parseSchedule(
  text: string,
  { errors, now }: { errors: ErrorCollector; now: number },
): number | undefined {
  const at = parseTimestamp(text);
  report(errors, "schedule_at", scheduleProblem(at, now));
  return at;
}

export const SCHEDULE_HAS_PASSED = "must be in the future";

function scheduleProblem(at: number | undefined, now: number): string | undefined {
  if (at === undefined) return NOT_A_TIMESTAMP;
  if (at <= now) return SCHEDULE_HAS_PASSED;
  return at - now > LATEST_SCHEDULE_MS ? "must be at most 7 days ahead" : undefined;
}

function parseTags(tags: readonly (string | undefined)[], errors: ErrorCollector): readonly string[] {
  tags.forEach((tag, index) => {
    if (tag === undefined || isStorable(tag)) return;
    errors.addEntry("tags", { index, total: tags.length, at: `tags.${index}`, reason: NOT_STORABLE });
  });
  return tags as readonly string[];
}

function metadataProblem(metadata: object): string | undefined {
  if (!isShallow(metadata, MAX_METADATA_DEPTH)) {
    return `must be nested at most ${MAX_METADATA_DEPTH} levels deep`;
  }
  const json = JSON.stringify(metadata);
  if (isLonger(json, MAX_METADATA_LENGTH)) return `must be at most ${MAX_METADATA_LENGTH} characters of JSON`;
  // In JSON, what cannot be stored shows as an escape, and what was rounded as many digits, an exponent or null. Only then is a
  // closer look needed.
  if (/\\u(?:0000|d[89a-f])/.test(json) && !isAllStorable(metadata)) return NOT_STORABLE;
  return /\d{16}|\de\+|null/.test(json) && !isAllExact(metadata) ? NOT_EXACT : undefined;
}

/** Bounds every recursion over metadata, here and later. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

function isAllStorable(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isAllStorable(member));
}

function isAllExact(value: unknown): boolean {
  if (typeof value === "number") return isExactNumber(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isAllExact);
}
