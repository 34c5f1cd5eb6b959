import type { Receipt } from "../../../../core/messages/outcome.ts";
import { bareId } from "../../../../core/receipts/provider-id.ts";
import { dltScrubError, type OwnCodes, type ScrubContext } from "../../dlt-scrub-codes.ts";
import { type ShortMessage, TAG } from "../wire/pdu.ts";
import { KEYS, receiptText, type TextFields, textFields } from "./receipt-text.ts";

/** A receipt as the SMSC wrote it. The inbox adds the connector and the time. */
export type SmppReceipt = Omit<Receipt, "connectorId" | "receivedAt">;

type ReceiptStatus = Receipt["status"];

/** esm_class, bits 5 to 2 (§5.2.12): what kind of message this is. Some SMSCs set two of them. */
const MESSAGE_TYPE = 0x3c;
const DELIVERY_RECEIPT = 0x04;
/** The types for acknowledgements by a handset's user or program. Some SMSCs send their own receipts with these. */
const ACKNOWLEDGEMENTS = 0x18;
const INTERMEDIATE_NOTICE = 0x20;

/** How many characters are kept of an id, and of the provider's own words. */
const RAW_LIMIT = 255;

/** Each message_state (§5.2.28), its word in a receipt's text (appendix B), and our status. SCHEDULED and SKIPPED: SMPP 5.0. */
const STATES: readonly (readonly [state: number, word: string, status: ReceiptStatus])[] = [
  [0, "SCHEDULED", "sent"],
  [1, "ENROUTE", "sent"],
  [2, "DELIVRD", "delivered"],
  [3, "EXPIRED", "expired"],
  [4, "DELETED", "undelivered"],
  [5, "UNDELIV", "undelivered"],
  [6, "ACCEPTD", "sent"],
  [7, "UNKNOWN", "sent"],
  [8, "REJECTD", "failed"],
  [9, "SKIPPED", "undelivered"],
];

const WORD_OF_STATE = new Map(STATES.map(([state, word]) => [state, word]));
const STATUS_OF_WORD = new Map(STATES.map(([, word, status]) => [word, status]));

/** Other spellings of these words that SMSCs use. */
const OTHER_SPELLINGS: Readonly<Record<string, string>> = {
  DELIVERED: "DELIVRD",
  DELIVERD: "DELIVRD",
  DLVRD: "DELIVRD",
  EXPIRD: "EXPIRED",
  UNDELIVERED: "UNDELIV",
  UNDELIVERABLE: "UNDELIV",
  UNDELIVRD: "UNDELIV",
  FAILED: "UNDELIV",
  ACCEPTED: "ACCEPTD",
  REJECTED: "REJECTD",
};

/** The words for a message that is not in a final state yet. */
const UNDER_WAY: ReadonlySet<string> = new Set(["SCHEDULED", "ENROUTE", "ACCEPTD"]);

/** In these states the message was not refused, so a scrub code in the receipt does not count. */
const NOT_REFUSED: ReadonlySet<string> = new Set([...UNDER_WAY, "DELIVRD"]);

/**
 * Whether a deliver_sm or data_sm is a receipt, and not a message from a handset. `byText`: the SMSC does not set the type of
 * its receipts, so they are recognised by their text.
 */
export function isReceipt(message: ShortMessage, byText = false): boolean {
  if (isMarked(message)) return true;
  return (byText || (message.esmClass & ACKNOWLEDGEMENTS) !== 0) && hasReceiptText(message);
}

/** Some SMSCs do not set the type. Then a TLV decides, which no handset can make, whereas a handset could have written the text. */
function isMarked({ esmClass, tlvs }: ShortMessage): boolean {
  return (esmClass & (DELIVERY_RECEIPT | INTERMEDIATE_NOTICE)) !== 0 || tlvs.has(TAG.receiptedMessageId);
}

/** Whether the text begins with the id, as in appendix B, and names a known state. */
function hasReceiptText(message: ShortMessage): boolean {
  const text = receiptText(message);
  const { id, stat } = textFields(text);
  return /^\s*id\s*[:=]/i.test(text) && id !== undefined && STATUS_OF_WORD.has(standardWord(stat ?? ""));
}

/**
 * Reads a receipt from its TLVs and, as far as they are missing, from its text. `undefined` if it does not say which message it
 * is about. An unknown status word counts as `sent`: it proves neither success nor failure. `own`: the connector's own scrub
 * codes.
 */
export function readReceipt(message: ShortMessage, own?: OwnCodes): SmppReceipt | undefined {
  const tlvId = tlvText(message, TAG.receiptedMessageId);
  const found = textFields(receiptText(message));
  // If there are TLVs, the text may be the message's: it is a receipt's only if it names a state.
  const fields = tlvId && !found.stat ? {} : found;
  const providerMessageId = tlvId || fields.id;
  if (!providerMessageId) return undefined;
  const otherId = tlvId && fields.id !== tlvId ? fields.id : undefined;
  const reference = userReference(message);
  const recipient = recipientOf(message);
  const raw = rawReceipt(message, fields);
  return {
    providerMessageId: providerMessageId.slice(0, RAW_LIMIT),
    ...(otherId !== undefined && { otherId: otherId.slice(0, RAW_LIMIT) }),
    ...verdictOf(message, fields, own),
    ...(!isMarked(message) && { isByText: true }),
    ...(recipient && { recipient }),
    ...(reference !== undefined && { reference }),
    ...(raw && { raw }),
  };
}

/**
 * The number that the message was sent to, which a receipt comes from. Some SMSCs leave both addresses as they were in the submit_sm:
 * then it is the destination, and the sender is told from it by its letters or by being short. A receipt that only its text shows to
 * be one may be a handset's, and is believed of the number that it comes from alone.
 */
function recipientOf(message: ShortMessage): string {
  const { source, destination } = message;
  const isAsSubmitted = isMarked(message) && isSenderOnly(source.address) && NUMBER.test(destination.address);
  return isAsSubmitted ? destination.address : source.address;
}

/** Whether the address can only be a sender's. One that is missing, or a number with hidden digits, may be the recipient's. */
function isSenderOnly(address: string): boolean {
  return address !== "" && address.length <= LONGEST_NAME && !MAYBE_HIDDEN.test(address);
}

const NUMBER = /^\+?\d{7,}$/;
const MAYBE_HIDDEN = /^\+?[\dx*#]{7,}$/i;

/** The longest name that a sender can have (3GPP TS 23.040 §9.1.2.5): what is longer is a number, however it is disguised. */
const LONGEST_NAME = 11;

/** What a message_state and an error code (0: none) of a query_sm_resp mean; `undefined` for an unknown state. */
export function readState(state: number, errorCode: number): Verdict | undefined {
  const word = WORD_OF_STATE.get(state);
  if (word === undefined) return undefined;
  return judge(word, errorCode === 0 ? [] : [String(errorCode)], {});
}

type Verdict = Pick<SmppReceipt, "status" | "error" | "isUnclear">;

function verdictOf(message: ShortMessage, fields: TextFields, own: OwnCodes | undefined): Verdict {
  const codes = [networkCode(message), fields.err && bareId(fields.err)].filter((code) => code !== undefined);
  const word = wordOf(message, fields);
  const verdict = judge(word, codes, { own, to: recipientOf(message) });
  const isNotice = (message.esmClass & MESSAGE_TYPE) === INTERMEDIATE_NOTICE;
  // A notice about a failed attempt is not the end. One about delivery is, whoever sends it.
  if (isNotice && verdict.status !== "delivered") return { status: "sent" };
  return verdict.status === "sent" && !UNDER_WAY.has(word) ? { ...verdict, isUnclear: true } : verdict;
}

/**
 * The state as a word: the TLV's, else the text's. If the text is a complete receipt with a final state, a TLV that says "under
 * way" is one that this SMSC never updates, and is ignored.
 */
function wordOf(message: ShortMessage, { id, stat = "" }: TextFields): string {
  const [inTlv, inText] = [stateWord(message), standardWord(stat)];
  if (inTlv === undefined) return inText;
  return id !== undefined && isFinal(inText) && !isFinal(inTlv) ? inText : inTlv;
}

function isFinal(word: string): boolean {
  return statusOf(word) !== "sent";
}

function statusOf(word: string): ReceiptStatus {
  return STATUS_OF_WORD.get(word) ?? "sent";
}

/** A scrub code may be in the text and the network's code in a TLV, or the other way round. */
function judge(word: string, codes: readonly string[], context: ScrubContext): Verdict {
  const scrubbed = NOT_REFUSED.has(word)
    ? undefined
    : codes.map((each) => dltScrubError(each, context)).find((error) => error !== undefined);
  if (scrubbed) return { status: "failed", error: scrubbed };
  const [code] = codes;
  const status = statusOf(word);
  if (status === "sent" || status === "delivered") return { status };
  const detail = code === undefined ? "" : `, error ${code}`;
  return {
    status,
    error: { code: `receipt.${word.toLowerCase()}`, message: `the SMSC reported ${word}${detail}` },
  };
}

function tlvText(message: ShortMessage, tag: number): string {
  const value = message.tlvs.get(tag);
  if (!value) return "";
  // A C-octet string; not every SMSC ends it with a NUL.
  return Buffer.from(value).toString("latin1").split("\0", 1)[0]?.trim() ?? "";
}

/** user_message_reference (§5.3.2.17), as the submit_sm gave it. */
function userReference(message: ShortMessage): number | undefined {
  const value = message.tlvs.get(TAG.userMessageReference);
  return value?.length === 2 ? Buffer.from(value).readUInt16BE() : undefined;
}

/** message_state is one octet. Some SMSCs write an integer of 2 or 4 octets, a digit, or a word with a NUL at its end. */
function stateWord(message: ShortMessage): string | undefined {
  const value = message.tlvs.get(TAG.messageState) ?? Uint8Array.of();
  const octets = Buffer.from(value.filter((octet) => octet !== 0));
  if (octets.length === 0) return value.length === 0 ? undefined : WORD_OF_STATE.get(0);
  const word = standardWord(octets.toString("latin1").trim());
  const byOctet = octets.length === 1 ? WORD_OF_STATE.get(octets[0] ?? -1) : undefined;
  return byOctet ?? (STATUS_OF_WORD.has(word) ? word : undefined);
}

/** network_error_code (§5.3.2.31): one octet for the network, and two for the code; 0 means no error. */
function networkCode(message: ShortMessage): string | undefined {
  const value = message.tlvs.get(TAG.networkErrorCode);
  if (value?.length !== 3) return undefined;
  const code = Buffer.from(value).readUInt16BE(1);
  return code === 0 ? undefined : String(code);
}

/** The standard word: DELIVRD for `delivrd`, `DELIVERED` and the digit 2. An unknown word is only put in capitals. */
function standardWord(stat: string): string {
  const word = bareId(stat).toUpperCase();
  const byNumber = /^\d$/.test(word) ? WORD_OF_STATE.get(Number(word)) : undefined;
  return byNumber ?? OTHER_SPELLINGS[word] ?? word;
}

/** The receipt in the provider's own words. Only known keys are kept, so that no text of the message can be among them. */
function rawReceipt(message: ShortMessage, fields: TextFields): string {
  const words: string[] = [];
  for (const key of KEYS) if (fields[key] !== undefined) words.push(`${key}:${fields[key]}`);
  const id = tlvText(message, TAG.receiptedMessageId);
  if (id) words.push(`receipted_message_id=${id}`);
  for (const [name, tag] of RAW_TLVS) {
    const value = message.tlvs.get(tag);
    if (value) words.push(`${name}=${Buffer.from(value.subarray(0, 8)).toString("hex")}`);
  }
  return words.join(" ").slice(0, RAW_LIMIT);
}

/** The TLVs that are shown, in hexadecimal. */
const RAW_TLVS = [
  ["message_state", TAG.messageState],
  ["network_error_code", TAG.networkErrorCode],
] as const;
