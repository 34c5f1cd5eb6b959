/** Encodes and decodes the PDUs of SMPP 3.4, issue 1.2. */
import { createOctetReader, cString, cText, encodeTlvs, type Tlvs } from "./octets.ts";

/** command_id (§5.1.2.1). A response has the top bit of its request set. */
export const COMMAND = {
  bindReceiver: 0x00000001,
  bindTransmitter: 0x00000002,
  querySm: 0x00000003,
  submitSm: 0x00000004,
  deliverSm: 0x00000005,
  unbind: 0x00000006,
  bindTransceiver: 0x00000009,
  enquireLink: 0x00000015,
  alertNotification: 0x00000102,
  dataSm: 0x00000103,
  genericNack: 0x80000000,
} as const;

/** Tags of optional parameters (§5.3.2). */
export const TAG = {
  receiptedMessageId: 0x001e,
  userMessageReference: 0x0204,
  sarReference: 0x020c,
  sarTotal: 0x020e,
  sarNumber: 0x020f,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;

/** A bit of esm_class (§5.2.12): the message starts with a user data header. */
export const ESM_UDHI = 0x40;

/** The size of the header: command_length, command_id, command_status and sequence_number, 4 octets each. */
export const HEADER_OCTETS = 16;

export interface Pdu {
  readonly commandId: number;
  /** command_status; 0 in requests. */
  readonly status: number;
  /** 1 to 0x7FFFFFFF. */
  readonly sequence: number;
  /** Everything after the header, TLVs included. */
  readonly body: Buffer;
}

export interface Address {
  readonly ton: number;
  readonly npi: number;
  readonly address: string;
}

/** What submit_sm, deliver_sm and data_sm carry (§4.4.1, §4.6.1, §4.7.1). */
export interface ShortMessage {
  readonly source: Address;
  readonly destination: Address;
  readonly esmClass: number;
  /** "", or 16 characters as in §7.1.1. */
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly dataCoding: number;
  /** short_message; at most 254 octets. */
  readonly shortMessage: Uint8Array;
  readonly tlvs: Tlvs;
}

/** What a submit_sm has besides, and nothing that is read here. Absent: empty, or 0. */
export interface SubmitSm extends ShortMessage {
  /** service_type (§5.2.11): at most 5 characters. */
  readonly serviceType?: string;
  /** priority_flag (§5.2.14): 0 to 3. */
  readonly priorityFlag?: number;
}

/**
 * The octets of the message: those of message_payload, if there is one and short_message is empty, as it has to be then
 * (§5.3.2.32). Some SMSCs leave a NUL or a blank in it, which counts as empty.
 */
export function userData({ shortMessage, tlvs }: ShortMessage): Uint8Array {
  const payload = tlvs.get(TAG.messagePayload);
  const isEmpty = payload?.length && shortMessage.every((octet) => octet === 0 || octet === 0x20);
  return isEmpty ? payload : shortMessage;
}

export function isResponse(pdu: Pdu): boolean {
  return pdu.commandId >= 0x80000000;
}

export function responseTo(commandId: number): number {
  return (commandId | 0x80000000) >>> 0;
}

const NOTHING = Buffer.alloc(0);

/** The whole PDU, header included. */
export function encodePdu(pdu: {
  commandId: number;
  status?: number;
  sequence: number;
  body?: Uint8Array | undefined;
}): Buffer {
  const body = pdu.body ?? NOTHING;
  const frame = Buffer.allocUnsafe(HEADER_OCTETS + body.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(pdu.commandId, 4);
  frame.writeUInt32BE(pdu.status ?? 0, 8);
  frame.writeUInt32BE(pdu.sequence, 12);
  frame.set(body, HEADER_OCTETS);
  return frame;
}

/** The body of the three binds (§4.1.1, §4.1.3, §4.1.5). With an interface_version below 0x34 an SMSC ignores or refuses TLVs. */
export function encodeBind(bind: {
  systemId: string;
  password: string;
  systemType: string;
  interfaceVersion: number;
  address: Address;
}): Buffer {
  return Buffer.concat([
    cString(bind.systemId),
    cString(bind.password),
    cString(bind.systemType),
    Uint8Array.of(bind.interfaceVersion),
    encodeAddress(bind.address),
  ]);
}

/** Body of submit_sm and deliver_sm. */
export function encodeShortMessage(message: SubmitSm): Buffer {
  // Built as one Latin-1 text, a character for each octet: a buffer for each field would cost more than everything else.
  const head = [
    cText(message.serviceType ?? ""),
    addressText(message.source),
    addressText(message.destination),
    String.fromCharCode(message.esmClass, 0, message.priorityFlag ?? 0), // protocol_id between them
    cText(""), // schedule_delivery_time: we schedule ourselves
    cText(message.validityPeriod),
    // then replace_if_present_flag, data_coding, sm_default_msg_id
    String.fromCharCode(message.registeredDelivery, 0, message.dataCoding, 0, message.shortMessage.length),
  ].join("");
  const { shortMessage } = message;
  const tlvs = encodeTlvs(message.tlvs);
  const body = Buffer.allocUnsafe(head.length + shortMessage.length + tlvs.length);
  body.write(head, 0, "latin1");
  body.set(shortMessage, head.length);
  body.set(tlvs, head.length + shortMessage.length);
  return body;
}

/**
 * Reads the body of submit_sm or deliver_sm; `undefined` if it is too short for its own fields. A short_message that is shorter than
 * sm_length says is taken as it is: an SMSC that counts wrongly would deliver it again and again.
 */
export function decodeShortMessage(body: Buffer): ShortMessage | undefined {
  const reader = createOctetReader(body);
  reader.cString();
  const source = readAddress(reader);
  const destination = readAddress(reader);
  const esmClass = reader.u8();
  reader.u8();
  reader.u8();
  reader.cString();
  const validityPeriod = reader.cString();
  const registeredDelivery = reader.u8();
  reader.u8();
  const dataCoding = reader.u8();
  reader.u8();
  const length = reader.u8();
  if (reader.isShort()) return undefined;
  const shortMessage = reader.octets(length);
  const tlvs = reader.tlvs();
  return {
    source,
    destination,
    esmClass,
    validityPeriod,
    registeredDelivery,
    dataCoding,
    shortMessage,
    tlvs,
  };
}

/** Reads the body of data_sm, in which some SMSCs send receipts. It has no short_message: its text is in message_payload. */
export function decodeDataSm(body: Buffer): ShortMessage | undefined {
  const reader = createOctetReader(body);
  reader.cString();
  const source = readAddress(reader);
  const destination = readAddress(reader);
  const esmClass = reader.u8();
  const registeredDelivery = reader.u8();
  const dataCoding = reader.u8();
  const tlvs = reader.tlvs();
  if (reader.isShort()) return undefined;
  const fixed = { validityPeriod: "", shortMessage: NOTHING };
  return { source, destination, esmClass, registeredDelivery, dataCoding, tlvs, ...fixed };
}

/** The message_id of a submit_sm_resp, as the SMSC wrote it; "" if there is none. §5.2.23 allows 64 characters; 255 are kept. */
export function decodeMessageId(body: Buffer): string {
  return createOctetReader(body).cString().slice(0, 255);
}

/** The body of query_sm (§4.8.1). */
export function encodeQuery({ messageId, source }: { messageId: string; source: Address }): Buffer {
  return Buffer.concat([cString(messageId), encodeAddress(source)]);
}

/** Reads the body of a query_sm_resp (§4.8.2); `undefined` if it is too short for its fields. */
export function decodeQueryAnswer(body: Buffer): { state: number; errorCode: number } | undefined {
  const reader = createOctetReader(body);
  reader.cString();
  reader.cString(); // final_date
  const state = reader.u8();
  const errorCode = reader.u8();
  return reader.isShort() ? undefined : { state, errorCode };
}

function encodeAddress(address: Address): Buffer {
  return Buffer.from(addressText(address), "latin1");
}

function addressText({ ton, npi, address }: Address): string {
  return String.fromCharCode(ton, npi) + cText(address);
}

function readAddress(reader: { u8(): number; cString(): string }): Address {
  return { ton: reader.u8(), npi: reader.u8(), address: reader.cString() };
}
