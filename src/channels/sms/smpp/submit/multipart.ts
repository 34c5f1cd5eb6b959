import { concatReference } from "../../../../core/receipts/short-reference.ts";
import type { ConcatStyle } from "../../../../core/sms/sms-segments.ts";
import type { SmppConfig } from "../smpp-config.ts";
import { NO_TLVS, type Tlvs } from "../wire/octets.ts";
import { ESM_UDHI, TAG } from "../wire/pdu.ts";

/** One submit_sm of a message, without the fields that all of its submit_sm share. */
export interface Piece {
  readonly esmClass: number;
  readonly shortMessage: Uint8Array;
  readonly tlvs: Tlvs;
}

type Style = SmppConfig["concat"];

/**
 * The header that each segment must leave room for. With SAR parameters or message_payload the SMSC writes it: for SAR with a
 * 16-bit reference; for message_payload it may choose, and most use 8 bits.
 */
export const HEADER_STYLES: Readonly<Record<Style, ConcatStyle>> = {
  udh8: "udh8",
  udh16: "udh16",
  sar: "udh16",
  payload: "udh8",
};

/** How handsets can be made to join segments here. SMPP 3.3 has no TLVs, and so no SAR parameters. */
export function joiningStyles({ interface_version: version }: SmppConfig): readonly Style[] {
  return version === "3.3" ? ["udh8", "udh16"] : ["udh8", "udh16", "sar"];
}

/** The submit_sm for the segments of a text (octets): one for each segment, or one for all of them in message_payload. */
export function toPieces(
  segments: readonly Uint8Array[],
  { style, messageId }: { style: Style; messageId: string },
): readonly Piece[] {
  const [only, ...others] = segments;
  if (only && others.length === 0) return [{ esmClass: 0, shortMessage: only, tlvs: NO_TLVS }];
  if (style === "payload") return [wholeInPayload(segments)];
  const reference = concatReference(messageId);
  const total = segments.length;
  return segments.map((octets, index) => {
    const place = { reference, total, number: index + 1 };
    return style === "sar"
      ? { esmClass: 0, shortMessage: octets, tlvs: sarTlvs(place) }
      : { esmClass: ESM_UDHI, shortMessage: Buffer.concat([header(style, place), octets]), tlvs: NO_TLVS };
  });
}

/** Puts the whole text into message_payload; sm_length is 0 then (§5.3.2.32). */
function wholeInPayload(segments: readonly Uint8Array[]): Piece {
  return {
    esmClass: 0,
    shortMessage: Buffer.alloc(0),
    tlvs: new Map([[TAG.messagePayload, Buffer.concat(segments)]]),
  };
}

interface Place {
  readonly reference: number;
  readonly total: number;
  /** From 1. */
  readonly number: number;
}

/** sar_msg_ref_num, sar_total_segments and sar_segment_seqnum (§5.3.2.22 to 24). */
function sarTlvs({ reference, total, number }: Place): Tlvs {
  return new Map<number, Uint8Array>([
    [TAG.sarReference, Uint8Array.of(reference >> 8, reference & 0xff)],
    [TAG.sarTotal, Uint8Array.of(total)],
    [TAG.sarNumber, Uint8Array.of(number)],
  ]);
}

/** The user data header for concatenation (3GPP TS 23.040 §9.2.3.24.1 and .8). */
function header(style: "udh8" | "udh16", { reference, total, number }: Place): Uint8Array {
  const high = reference >> 8;
  const low = reference & 0xff;
  const start = style === "udh8" ? [0x05, 0x00, 0x03, low] : [0x06, 0x08, 0x04, high, low];
  return Uint8Array.of(...start, total, number);
}
