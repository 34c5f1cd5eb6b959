import type { MessageError } from "../../../../core/messages/message.ts";
import { partReference } from "../../../../core/receipts/short-reference.ts";
import { encodeGsm7 } from "../../../../core/sms/gsm7.ts";
import {
  MAX_SEGMENTS,
  type SmsEncoding,
  type SmsSegments,
  segmentSms,
} from "../../../../core/sms/sms-segments.ts";
import type { OutgoingSms } from "../../../channel.ts";
import { extraTlvs } from "../extra-tlvs.ts";
import type { SmppConfig } from "../smpp-config.ts";
import { NO_TLVS, type Tlvs } from "../wire/octets.ts";
import { encodeShortMessage, TAG } from "../wire/pdu.ts";
import { destinationAddress, sourceAddress } from "./addresses.ts";
import { dltTlvs } from "./dlt-tlvs.ts";
import { asBegun, toJoining } from "./joining.ts";
import { HEADER_STYLES, type Piece, toPieces } from "./multipart.ts";
import { toRelativeTime } from "./time-format.ts";

/** The submit_sm that a message becomes. The same message and configuration have the same plan in every attempt. */
export interface SubmitPlan {
  readonly encoding: SmsEncoding;
  /** How many segments the handset receives, and the provider charges for. */
  readonly segments: number;
  /** How many submit_sm there are, and so parts of the message: one for each segment, or one for all in message_payload. */
  readonly submits: number;
  /** The settings that it was made by. */
  readonly config: SmppConfig;
  /** See `toJoining`; absent: there is only one. */
  readonly joinedBy: string | undefined;
  /** The body of the submit_sm with this index, which is valid for so long. */
  body(submit: number, validMs: number): Buffer;
}

/** Plans a message, or says why it can never be sent through this connector. */
export function planSubmit(
  message: OutgoingSms,
  given: SmppConfig,
): SubmitPlan | { readonly error: MessageError } {
  const { text } = message;
  const config = asBegun(message, given);
  if (text === undefined)
    return refusal("no_text", "the message has no text and this connector cannot render it");
  const { encoding, parts } = segmentsOf(text, config);
  if (parts.length > MAX_SEGMENTS)
    return refusal("too_long", `the text needs ${parts.length} segments of ${MAX_SEGMENTS}`);
  const source = sourceAddress(message, config);
  if (!source) return refusal("invalid_sender", "the sender is not 1 to 20 ASCII characters");
  const shared = sharedTlvs(message, config);
  if ("error" in shared) return shared;
  const octets = parts.map((part) => encodeText(part, encoding, config));
  const pieces = toPieces(octets, { style: config.concat, messageId: message.messageId });
  const envelope = {
    serviceType: config.service_type,
    priorityFlag: config.priority_flag,
    source,
    destination: destinationAddress(message, config),
    registeredDelivery: config.registered_delivery,
    dataCoding: encoding === "gsm7" ? config.default_data_coding : config.ucs2_data_coding,
  };
  return {
    encoding,
    segments: parts.length,
    submits: pieces.length,
    config,
    joinedBy: pieces.length > 1 ? toJoining(config, envelope) : undefined,
    body(submit, validMs) {
      const { tlvs: own, ...piece } = pieces[submit] ?? NO_PIECE;
      return encodeShortMessage({
        ...envelope,
        ...piece,
        validityPeriod: config.validity_period ? toRelativeTime(validMs) : "",
        tlvs: joinTlvs(reference(message, submit, config), own, shared.tlvs),
      });
    },
  };
}

/** The segments into which a text is divided for this SMSC. */
export function segmentsOf(text: string, config: SmppConfig): SmsSegments {
  return segmentSms(text, HEADER_STYLES[config.concat], config.default_alphabet);
}

/** The TLVs that every submit_sm of the message has. */
function sharedTlvs(
  message: OutgoingSms,
  config: SmppConfig,
): { readonly tlvs: Tlvs } | { readonly error: MessageError } {
  const tlvs = dltTlvs(message, config);
  if (!tlvs) return refusal("invalid_dlt_id", "a DLT id is not 1 to 64 ASCII characters");
  if (tlvs.size > 0 && config.interface_version === "3.3") return refusal("no_tlvs", NO_TLVS_IN_3_3);
  return { tlvs: joinTlvs(tlvs, extraTlvs(config.extra_tlvs)) };
}

/** Without its ids an operator would drop the message: better to say so at once. */
const NO_TLVS_IN_3_3 =
  "the message has DLT ids, and this connector speaks SMPP 3.3, which cannot carry them: name another one in its route";

const NO_PIECE: Piece = { esmClass: 0, shortMessage: Buffer.alloc(0), tlvs: NO_TLVS };

function reference({ messageId }: OutgoingSms, submit: number, config: SmppConfig): Tlvs {
  if (!config.user_message_reference) return NO_TLVS;
  const number = partReference(messageId, submit);
  return new Map([[TAG.userMessageReference, Uint8Array.of(number >> 8, number & 0xff)]]);
}

/** Joins TLVs in one map, in this order. */
function joinTlvs(...all: readonly Tlvs[]): Tlvs {
  return all.every(({ size }) => size === 0) ? NO_TLVS : new Map(all.flatMap((tlvs) => [...tlvs]));
}

function refusal(code: string, message: string): { readonly error: MessageError } {
  return { error: { code: `smpp.${code}`, message } };
}

/** Encodes a text: GSM-7 unpacked, a septet in each octet; UCS-2 big-endian; ASCII as the lower half of Latin-1. */
function encodeText(text: string, encoding: SmsEncoding, config: SmppConfig): Uint8Array {
  if (encoding === "ucs2") return Buffer.from(text, "utf16le").swap16();
  return config.default_alphabet === "gsm7" ? encodeGsm7(text) : Buffer.from(text, "latin1");
}
