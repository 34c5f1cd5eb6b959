import { createHash } from "node:crypto";
import type { InboundPart, ReceivedSms } from "../../../../core/inbound/inbound.ts";
import { toInboundAddress } from "../../../../core/inbound/inbound-address.ts";
import { decodeGsm7 } from "../../../../core/sms/gsm7.ts";
import { type NationalLanguages, nationalGsm7 } from "../../../../core/sms/gsm7-national.ts";
import { type DefaultAlphabet, segmentsOfUnits } from "../../../../core/sms/sms-segments.ts";
import { type Address, ESM_UDHI, type ShortMessage, TAG, userData } from "../wire/pdu.ts";

/** The content of a deliver_sm or data_sm from a handset. The inbox adds the connector and the time. */
export interface HandsetMessage
  extends Pick<ReceivedSms, "from" | "to" | "text" | "encoding" | "segments" | "part"> {
  /** Is the same if the same message is delivered again. */
  readonly fingerprint: string;
}

/** How an SMSC writes what it leaves out. */
export interface SmscDefaults {
  /** Its default alphabet. */
  readonly alphabet: DefaultAlphabet;
  /** The country code of the numbers that it delivers without one. */
  readonly countryCode?: string | undefined;
}

/** Never fails: octets that are not text are returned in hexadecimal. */
export function readHandsetMessage(
  message: ShortMessage,
  { alphabet, countryCode }: SmscDefaults,
): HandsetMessage {
  const octets = Buffer.from(userData(message));
  const headerLength = message.esmClass & ESM_UDHI ? lengthOfHeader(octets) : 0;
  const header = elementsOf(octets.subarray(1, headerLength));
  const part = partOfHeader(header) ?? partOfTlvs(message);
  const writing = { dataCoding: message.dataCoding, alphabet, languages: languagesOf(header) };
  const text = withoutNul(decode(octets.subarray(headerLength), writing));
  return {
    from: addressOf(message.source, countryCode),
    to: addressOf(message.destination, countryCode),
    ...text,
    segments: part ? 1 : segmentsOf(text, octets.length - headerLength),
    ...(part && { part }),
    fingerprint: fingerprintOf(message, octets),
  };
}

/** Type of number (§5.2.5). */
const INTERNATIONAL = 1;
const NATIONAL = 2;

function addressOf({ ton, address }: Address, countryCode: string | undefined): string {
  const kind = { isInternational: ton === INTERNATIONAL, isNational: ton === NATIONAL, countryCode };
  return toInboundAddress(address, kind);
}

// ---------------------------------------------------------------- header

/** With the octet that says how long the rest is; 0 if the message is shorter, so that it cannot begin with a header. */
function lengthOfHeader(octets: Buffer): number {
  const length = 1 + (octets[0] ?? 0);
  return length > octets.length ? 0 : length;
}

type Elements = readonly { readonly id: number | undefined; readonly value: Buffer }[];

/** The information elements of a user data header (3GPP TS 23.040 §9.2.3.24), without its length. */
function elementsOf(header: Buffer): Elements {
  const elements = [];
  for (let rest = header; rest.length >= 2; ) {
    const end = 2 + (rest[1] ?? 0);
    elements.push({ id: rest[0], value: rest.subarray(2, end) });
    rest = rest.subarray(end);
  }
  return elements;
}

/** Elements that name a national language (§9.2.3.24.15 and .16): the one of its single, and of its locking shift table. */
const SINGLE_SHIFT = 0x24;
const LOCKING_SHIFT = 0x25;

function languagesOf(header: Elements): NationalLanguages {
  const languageIn = (element: number) => header.find(({ id }) => id === element)?.value[0];
  return { single: languageIn(SINGLE_SHIFT), locking: languageIn(LOCKING_SHIFT) };
}

// ---------------------------------------------------------------- parts

/** Information elements of concatenation (3GPP TS 23.040 §9.2.3.24.1 and .8): with a reference of one octet, and of two. */
const CONCAT_8 = 0x00;
const CONCAT_16 = 0x08;

/**
 * Added to references by the place that they were found in. Each writer counts its own, so the same number in another place
 * belongs to another message. The sum exceeds 16 bits, so it equals no reference that is sent.
 */
const IN_16_BITS = 0x1_0000;
const IN_TLVS = 0x2_0000;

function partOfHeader(header: Elements): InboundPart | undefined {
  for (const { id, value } of header) {
    if (id === CONCAT_8 && value.length === 3) return toPart(value.readUInt8(), value[1], value[2]);
    if (id === CONCAT_16 && value.length === 4)
      return toPart(IN_16_BITS + value.readUInt16BE(), value[2], value[3]);
  }
  return undefined;
}

function partOfTlvs({ tlvs }: ShortMessage): InboundPart | undefined {
  const reference = tlvs.get(TAG.sarReference);
  if (reference?.length !== 2) return undefined;
  return toPart(
    IN_TLVS + Buffer.from(reference).readUInt16BE(),
    tlvs.get(TAG.sarTotal)?.[0],
    tlvs.get(TAG.sarNumber)?.[0],
  );
}

function toPart(reference: number, total = 0, number = 0): InboundPart | undefined {
  return total >= 2 && number >= 1 && number <= total ? { reference, total, number } : undefined;
}

// ---------------------------------------------------------------- text

type Text = Pick<HandsetMessage, "text" | "encoding">;

interface Writing {
  readonly dataCoding: number;
  readonly alphabet: DefaultAlphabet;
  readonly languages: NationalLanguages;
}

/** Decodes a text by its data_coding (§5.2.19). */
function decode(octets: Buffer, { dataCoding, alphabet, languages }: Writing): Text {
  switch (codingOf(dataCoding, alphabet)) {
    case GSM_ALPHABET:
      return { encoding: "gsm7", text: decodeGsm7(octets, nationalGsm7(languages)) };
    case 1:
    case LATIN_1:
      return { encoding: "gsm7", text: octets.toString("latin1") };
    case 6:
      return { encoding: "ucs2", text: new TextDecoder("iso-8859-5").decode(octets) };
    case 7:
      return { encoding: "ucs2", text: new TextDecoder("iso-8859-8").decode(octets) };
    case 8:
      return { encoding: "ucs2", text: decodeUcs2(octets) };
    default:
      return { encoding: "gsm7", text: octets.toString("hex") };
  }
}

/** An SMSC that joins the parts of a long message itself delivers them as one, in message_payload. */
function segmentsOf({ text, encoding }: Text, octets: number): number {
  return segmentsOfUnits(encoding, encoding === "ucs2" ? text.length : octets);
}

/** Some SMSCs end a text with a NUL, as if it were a C-octet string. Stop words must be recognised all the same. */
function withoutNul({ text, encoding }: Text): Text {
  let end = text.length;
  while (text[end - 1] === "\0") end--;
  return { text: text.slice(0, end), encoding };
}

/** A data_coding of our own: GSM-7, whatever the SMSC's default alphabet is. */
const GSM_ALPHABET = -1;
const LATIN_1 = 3;
const BINARY = 4;

function codingOf(dataCoding: number, alphabet: DefaultAlphabet): number {
  if (dataCoding === 0) return alphabet === "gsm7" ? GSM_ALPHABET : LATIN_1;
  return dataCoding >= 0x10 ? fromGsm(dataCoding) : dataCoding;
}

/** Some SMSCs use values from 0x10 on as the GSM scheme (3GPP TS 23.038 §4). */
function fromGsm(dataCoding: number): number {
  if (dataCoding >= 0xf0) return dataCoding & 0x04 ? BINARY : GSM_ALPHABET;
  if (dataCoding >= 0x40) return BINARY;
  return [GSM_ALPHABET, BINARY, 8, BINARY][(dataCoding >> 2) & 0x03] ?? BINARY;
}

/** Decodes big-endian UCS-2. Half a surrogate pair at an end is kept: the other half may be in the next part. */
function decodeUcs2(octets: Buffer): string {
  return octets
    .subarray(0, octets.length & ~1)
    .swap16()
    .toString("utf16le");
}

/** A deliver_sm has no id and no time, so only equal addresses and equal octets show that it is a repeat. */
function fingerprintOf(
  { source, destination, esmClass, dataCoding, tlvs }: ShortMessage,
  octets: Buffer,
): string {
  const tag = (number: number) => Buffer.from(tlvs.get(number) ?? []).toString("hex");
  const tags = [TAG.userMessageReference, TAG.sarReference, TAG.sarNumber].map(tag);
  const head = [source.address, destination.address, esmClass, dataCoding, ...tags].join("\0");
  return createHash("sha256").update(`${head}\0`).update(octets).digest("base64url");
}
