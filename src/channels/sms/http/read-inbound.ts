import type { InboundPart, ReceivedSms } from "../../../core/inbound/inbound.ts";
import { toInboundAddress } from "../../../core/inbound/inbound-address.ts";
import { present } from "../../../core/present.ts";
import { segmentSms } from "../../../core/sms/sms-segments.ts";
import { DAY_MS } from "../../../core/time/durations.ts";
import type { InboundDescription } from "./gateway.ts";
import { type Readable, readFirst } from "./source.ts";

/** How many characters to keep of a text: as many as 255 segments of GSM-7 hold. */
const MAX_TEXT = 39_015;

const MAX_ID = 255;

/** For how long an id that comes again is taken for a repeat. Providers repeat for a day or so, and never use an id twice. */
const REPEATS_WITHIN_MS = 7 * DAY_MS;

export interface InboundReport {
  readonly connectorId: string;
  readonly receivedAt: number;
}

/** Whether a report is about a message from a handset, and not about one of ours. */
export function isInbound({ when, is }: InboundDescription, report: Readable): boolean {
  const value = readFirst(when, report);
  return value !== undefined && (is === undefined || is.includes(value));
}

/** The message of such a report; `undefined` if it lacks an id or an address. */
export function toReceivedSms(
  description: InboundDescription,
  report: Readable,
  { connectorId, receivedAt }: InboundReport,
): ReceivedSms | undefined {
  const [id, from, to] = [description.id, description.from, description.to].map((at) =>
    readFirst(at, report),
  );
  if (!id || !from || to === undefined) return undefined;
  const text = (readFirst(description.text, report) ?? "").slice(0, MAX_TEXT);
  const { encoding, parts } = segmentSms(text);
  return present({
    connectorId,
    from: toInboundAddress(from),
    to: toInboundAddress(to),
    text,
    encoding,
    segments: numberIn(readFirst(description.segments, report), { max: 255 }) ?? parts.length,
    receivedAt,
    key: id.slice(0, MAX_ID),
    sameSince: receivedAt - REPEATS_WITHIN_MS,
    part: partOf(description.part, report),
  });
}

function partOf(description: InboundDescription["part"], report: Readable): InboundPart | undefined {
  if (!description) return undefined;
  const read = (at: keyof typeof description, max: number) =>
    numberIn(readFirst(description[at], report), { max });
  const [reference, total, number] = [read("reference", 0xffff), read("total", 255), read("number", 255)];
  if (reference === undefined || !total || !number || total < 2 || number > total) return undefined;
  return { reference, total, number };
}

function numberIn(text: string | undefined, { max }: { max: number }): number | undefined {
  const value = /^\d{1,5}$/.test(text ?? "") ? Number(text) : Number.NaN;
  return value <= max ? value : undefined;
}
