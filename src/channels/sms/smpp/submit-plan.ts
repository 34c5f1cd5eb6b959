import { encodeGsm7 } from "../../../core/gsm7.ts";
import type { MessageError } from "../../../core/message.ts";
import { type ConcatStyle, MAX_SEGMENTS, type SmsEncoding, segmentSms } from "../../../core/sms-segments.ts";
import type { OutgoingSms } from "../../channel.ts";
import type { Tlvs } from "./octets.ts";
import { type Address, ESM_UDHI, encodeShortMessage } from "./pdu.ts";
import type { SmppConfig } from "./smpp-config.ts";
import { toRelativeTime } from "./time-format.ts";

/** A message as the submit_sm it becomes. The same message and configuration make the same plan, on every attempt. */
export interface SubmitPlan {
  readonly encoding: SmsEncoding;
  readonly segments: number;
  /** Body of the submit_sm of one segment, from 0, with what is left of the delivery window. */
  body(segment: number, remainingMs: number): Buffer;
}

/** Plans a message, or says why it can never be sent through this connector. */
export function planSubmit(
  message: OutgoingSms,
  config: SmppConfig,
): SubmitPlan | { readonly error: MessageError } {
  const { text } = message;
  if (text === undefined)
    return refusal("no_text", "the message has no text and this connector cannot render it");
  const { encoding, parts } = segmentSms(text, config.concat);
  if (parts.length > MAX_SEGMENTS)
    return refusal("too_long", `the text needs ${parts.length} segments of ${MAX_SEGMENTS}`);
  const source = sourceAddress(message, config);
  if (!source) return refusal("invalid_sender", "the sender is not 1 to 20 ASCII characters");
  const tlvs = dltTlvs(message, config);
  if (!tlvs) return refusal("invalid_dlt_id", "a DLT id is not 1 to 64 ASCII characters");
  const udhs = parts.length === 1 ? [] : headers(parts.length, config.concat, message.messageId);
  const envelope = {
    source,
    destination: { ton: config.dest_ton, npi: config.dest_npi, address: destination(message.to, config) },
    esmClass: parts.length === 1 ? 0 : ESM_UDHI,
    registeredDelivery: config.registered_delivery,
    dataCoding: encoding === "gsm7" ? config.gsm7_data_coding : config.ucs2_data_coding,
    tlvs,
  };
  return {
    encoding,
    segments: parts.length,
    body: (segment, remainingMs) =>
      encodeShortMessage({
        ...envelope,
        validityPeriod: config.validity_period ? toRelativeTime(remainingMs) : "",
        shortMessage: Buffer.concat([udhs[segment] ?? NO_HEADER, encodeText(parts[segment] ?? "", encoding)]),
      }),
  };
}

const NO_HEADER = Buffer.alloc(0);

function refusal(code: string, message: string): { readonly error: MessageError } {
  return { error: { code: `smpp.${code}`, message } };
}

/** GSM-7 unpacked, a septet in an octet; UCS-2 big-endian. */
function encodeText(text: string, encoding: SmsEncoding): Uint8Array {
  return encoding === "gsm7" ? encodeGsm7(text) : Buffer.from(text, "utf16le").swap16();
}

// ---------------------------------------------------------------- addresses

/** Longest source_addr without its NUL (§5.2.8). */
const ADDRESS = /^[\x20-\x7e]{1,20}$/;

/** Digits up to here are a short code or a numeric header, above a telephone number. */
const SHORT_CODE_DIGITS = 8;

function sourceAddress(message: OutgoingSms, config: SmppConfig): Address | undefined {
  const from = message.from ?? message.content.resolved?.from ?? message.content.from ?? config.source_addr;
  const fitting = from ? fittingAddress(from) : { ton: 0, npi: 0, address: "" };
  if (from && !ADDRESS.test(fitting.address)) return undefined;
  return { ...fitting, ton: config.source_ton ?? fitting.ton, npi: config.source_npi ?? fitting.npi };
}

/** TON and NPI (§5.2.5, §5.2.6): alphanumeric 5/0, short code 3/0, international 1/1. */
function fittingAddress(from: string): Address {
  if (/^\+\d+$/.test(from)) return { ton: 1, npi: 1, address: from.slice(1) };
  if (!/^\d+$/.test(from)) return { ton: 5, npi: 0, address: from };
  return from.length <= SHORT_CODE_DIGITS
    ? { ton: 3, npi: 0, address: from }
    : { ton: 1, npi: 1, address: from };
}

function destination(to: string, config: SmppConfig): string {
  return config.dest_plus ? to : to.replace(/^\+/, "");
}

// ---------------------------------------------------------------- DLT

/** The DLT ids there are, as TLVs (India, TCCCPR 2018), on every segment; `undefined` if one cannot be written. */
function dltTlvs({ content }: OutgoingSms, config: SmppConfig): Tlvs | undefined {
  const tlvs = new Map<number, Uint8Array>();
  const ids = [
    [config.dlt_entity_tag, content.resolved?.dltEntityId ?? content.dltEntityId],
    [config.dlt_template_tag, content.resolved?.dltTemplateId ?? content.dltTemplateId],
  ] as const;
  for (const [tag, id] of ids) {
    if (!id) continue;
    if (!/^[\x21-\x7e]{1,64}$/.test(id)) return undefined;
    tlvs.set(tag, Buffer.from(config.dlt_nul_terminated ? `${id}\0` : id, "latin1"));
  }
  return tlvs;
}

// ---------------------------------------------------------------- segments

/** User data headers of concatenation (3GPP TS 23.040 §9.2.3.24.1 and .8), one for each segment. */
function headers(count: number, style: ConcatStyle, messageId: string): readonly Buffer[] {
  const reference = concatReference(messageId);
  const high = (reference >> 8) & 0xff;
  const low = reference & 0xff;
  const start = style === "udh8" ? [0x05, 0x00, 0x03, low] : [0x06, 0x08, 0x04, high, low];
  return Array.from({ length: count }, (_, segment) => Buffer.from([...start, count, segment + 1]));
}

/** 16 bits that are the same on every attempt, so that a handset joins segments of different attempts (FNV-1a). */
function concatReference(messageId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < messageId.length; i++) {
    hash = Math.imul(hash ^ messageId.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 16)) & 0xffff;
}
