import type { Receipt } from "../../../../core/messages/outcome.ts";
import { bareId } from "../../../../core/receipts/provider-id.ts";
import { dltScrubError, type OwnCodes, type ScrubContext } from "../../dlt-scrub-codes.ts";
import { ESM_UDHI, type ShortMessage, TAG, userData } from "../wire/pdu.ts";

/** A receipt as the SMSC wrote it; the inbox adds the connector and the time. */
export type SmppReceipt = Omit<Receipt, "connectorId" | "receivedAt">;

type ReceiptStatus = Receipt["status"];

/** esm_class, bits 5 to 2 (§5.2.12): what kind of message this is. Some SMSCs set two of them. */
const MESSAGE_TYPE = 0x3c;
const DELIVERY_RECEIPT = 0x04;
/** What a handset's user or program acknowledges; some SMSCs send their own receipts as such. */
const ACKNOWLEDGEMENTS = 0x18;
const INTERMEDIATE_NOTICE = 0x20;

/** UCS-2 big-endian, in data_coding. */
const UCS2 = 8;

/** Characters kept of an id, and of the provider's own words. */
const RAW_LIMIT = 255;

/** message_state (§5.2.28), its word in a receipt's text (appendix B), and our status. SCHEDULED and SKIPPED are of SMPP 5.0. */
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

/** Other spellings that SMSCs use. */
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

/** In these states the message was not refused, so a scrub code beside them does not count. */
const NOT_REFUSED: ReadonlySet<string> = new Set(["SCHEDULED", "ENROUTE", "DELIVRD", "ACCEPTD"]);

/**
 * True for a deliver_sm or data_sm about a message sent before; false for a message from a handset. `byText`: the SMSC
 * leaves the type out of its receipts, and they are told by their text.
 */
export function isReceipt(message: ShortMessage, byText = false): boolean {
  if (isMarked(message)) return true;
  return (byText || (message.esmClass & ACKNOWLEDGEMENTS) !== 0) && hasReceiptText(message);
}

/** Some SMSCs leave the type out. Then a TLV decides, which no handset can make; the text could be a handset's. */
function isMarked({ esmClass, tlvs }: ShortMessage): boolean {
  return (esmClass & (DELIVERY_RECEIPT | INTERMEDIATE_NOTICE)) !== 0 || tlvs.has(TAG.receiptedMessageId);
}

/** It begins with the id, as in appendix B, and names a state that is known. */
function hasReceiptText(message: ShortMessage): boolean {
  const text = receiptText(message);
  const { id, stat } = textFields(text);
  return /^\s*id\s*[:=]/i.test(text) && id !== undefined && STATUS_OF_WORD.has(standardWord(stat ?? ""));
}

/**
 * Reads a receipt from its TLVs and, where they are missing, from its text. `undefined` if it does not say which message
 * it is about. An unknown status word is read as `sent`: it proves neither success nor failure. `own`: the connector's
 * own scrub codes.
 */
export function readReceipt(message: ShortMessage, own?: OwnCodes): SmppReceipt | undefined {
  const tlvId = tlvText(message, TAG.receiptedMessageId);
  const found = textFields(receiptText(message));
  // Beside TLVs the text may be that of the message: it is a receipt's only if it names a state.
  const fields = tlvId && !found.stat ? {} : found;
  const providerMessageId = tlvId || fields.id;
  if (!providerMessageId) return undefined;
  const isNotice = (message.esmClass & MESSAGE_TYPE) === INTERMEDIATE_NOTICE;
  const word = wordOf(message, fields);
  const codes = [networkCode(message), fields.err && bareId(fields.err)].filter((code) => code !== undefined);
  const judged = judge(word, codes, { own, to: message.source.address });
  // An attempt that failed is not the end; what has been delivered is, whoever says so.
  const verdict = isNotice && judged.status !== "delivered" ? { status: "sent" as const } : judged;
  const raw = rawReceipt(message, fields);
  const reference = userReference(message);
  const otherId = tlvId && fields.id !== tlvId ? fields.id : undefined;
  return {
    providerMessageId: providerMessageId.slice(0, RAW_LIMIT),
    ...(otherId !== undefined && { otherId: otherId.slice(0, RAW_LIMIT) }),
    ...verdict,
    ...(!isMarked(message) && { isByText: true }),
    ...(message.source.address && { recipient: message.source.address }),
    ...(reference !== undefined && { reference }),
    ...(raw && { raw }),
  };
}

/** What a message_state and an error code (0: none) come to, as query_sm_resp has them; `undefined` for an unknown state. */
export function readState(state: number, errorCode: number): Pick<Receipt, "status" | "error"> | undefined {
  const word = WORD_OF_STATE.get(state);
  if (word === undefined) return undefined;
  return judge(word, errorCode === 0 ? [] : [String(errorCode)], {});
}

/**
 * The state in words: the TLV's, else the text's. Where a whole receipt in the text says how it ended, a TLV that says that
 * it has not is one that this SMSC never updates.
 */
function wordOf(message: ShortMessage, { id, stat = "" }: TextFields): string {
  const [inTlv, inText] = [stateWord(message), standardWord(stat)];
  if (inTlv === undefined) return inText;
  return id !== undefined && isFinal(inText) && !isFinal(inTlv) ? inText : inTlv;
}

function isFinal(word: string): boolean {
  return (STATUS_OF_WORD.get(word) ?? "sent") !== "sent";
}

type Verdict = Pick<SmppReceipt, "status" | "error">;

/** A scrub code may stand in the text, beside the code of the network in a TLV, or the other way round. */
function judge(word: string, codes: readonly string[], context: ScrubContext): Verdict {
  const scrubbed = NOT_REFUSED.has(word)
    ? undefined
    : codes.map((each) => dltScrubError(each, context)).find((error) => error !== undefined);
  if (scrubbed) return { status: "failed", error: scrubbed };
  const [code] = codes;
  const status = STATUS_OF_WORD.get(word) ?? "sent";
  if (status === "sent" || status === "delivered") return { status };
  const detail = code === undefined ? "" : `, error ${code}`;
  return {
    status,
    error: { code: `receipt.${word.toLowerCase()}`, message: `the SMSC reported ${word}${detail}` },
  };
}

// ---------------------------------------------------------------- TLVs

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

/** message_state is one octet; some SMSCs write it as an integer of 2 or 4 octets, as a digit, or in words, with a NUL at the end. */
function stateWord(message: ShortMessage): string | undefined {
  const value = message.tlvs.get(TAG.messageState) ?? Uint8Array.of();
  const octets = Buffer.from(value.filter((octet) => octet !== 0));
  if (octets.length === 0) return value.length === 0 ? undefined : WORD_OF_STATE.get(0);
  const word = standardWord(octets.toString("latin1").trim());
  const byOctet = octets.length === 1 ? WORD_OF_STATE.get(octets[0] ?? -1) : undefined;
  return byOctet ?? (STATUS_OF_WORD.has(word) ? word : undefined);
}

/** network_error_code (§5.3.2.31): an octet for the network, and two for the code; 0 is no error. */
function networkCode(message: ShortMessage): string | undefined {
  const value = message.tlvs.get(TAG.networkErrorCode);
  if (value?.length !== 3) return undefined;
  const code = Buffer.from(value).readUInt16BE(1);
  return code === 0 ? undefined : String(code);
}

// ---------------------------------------------------------------- text

/** Keys of appendix B. SMSCs write them in any order and case, and leave some out, so each is looked for on its own. */
const KEYS = ["id", "sub", "dlvrd", "submit date", "done date", "stat", "err"] as const;

type TextFields = Partial<Record<(typeof KEYS)[number], string>>;

/** A key with what separates it from its value: a colon or, with some SMSCs, an equals sign. */
const ANY_KEY = `(?:${KEYS.map(spelled).join("|")}|text)\\s*[:=]`;

/** A value ends at a blank, or before `|` or `&` and the next key. What looks like the next key is none: the value is missing. */
const PATTERNS = KEYS.map((key) => [key, patternOf(spelled(key))] as const);

/** Looked for where there is no `id`. */
const OTHER_NAME_OF_ID = patternOf("(?:message|msg)[ _-]?id");

function spelled(key: string): string {
  return key === "stat" ? "stat(?:us)?" : key.replace(" ", "[ _]?");
}

function patternOf(name: string): RegExp {
  const value = `(?!${ANY_KEY})([^\\s,;]+?)(?=$|[\\s,;]|[|&](?:$|${ANY_KEY}))`;
  return new RegExp(`(?:^|[\\s,;|&])${name}\\s*[:=][ \\t]*${value}`, "i");
}

/** Exactly as appendix B writes it, as most SMSCs do: one match then replaces one for each key. */
const STANDARD = new RegExp(`^${KEYS.map((key) => `${key}:([^\\s,;:]+)`).join(" ")} *$`, "i");

function textFields(text: string): TextFields {
  const standard = STANDARD.exec(text);
  if (standard) return standardFields(standard);
  const fields: TextFields = {};
  for (const [key, pattern] of PATTERNS) {
    const value = pattern.exec(text)?.[1];
    if (value) fields[key] = value;
  }
  const id = fields.id ?? OTHER_NAME_OF_ID.exec(text)?.[1];
  return id === undefined ? fields : { ...fields, id };
}

/** In the order of `KEYS`. */
function standardFields(found: RegExpExecArray): TextFields {
  const [, id = "", sub = "", dlvrd = "", submitDate = "", doneDate = "", stat = "", err = ""] = found;
  return { id, sub, dlvrd, "submit date": submitDate, "done date": doneDate, stat, err };
}

/**
 * The text of a receipt up to its `text:` key. What follows is the beginning of the message, which could hold a `stat:`
 * as well, and is never kept.
 */
function receiptText(message: ShortMessage): string {
  // Some SMSCs end the text with a NUL, as if it were a C-octet string.
  const text = decodeText(withoutHeader(message), message.dataCoding).replaceAll("\0", " ");
  const end = text.search(/text\s*[:=]/i);
  return end < 0 ? text : text.slice(0, end);
}

function withoutHeader(message: ShortMessage): Uint8Array {
  const octets = userData(message);
  const end = message.esmClass & ESM_UDHI ? headerEnd(octets) : 0;
  return octets.subarray(end);
}

/** Where the user data header ends; 0 if there is none: some SMSCs give a receipt the esm_class of the long message it is about. */
function headerEnd(octets: Uint8Array): number {
  const end = 1 + (octets[0] ?? 0);
  let at = 1;
  // Each element has an octet for its kind and one for its length (3GPP TS 23.040 §9.2.3.24).
  while (at < end) at += 2 + (octets[at + 1] ?? octets.length);
  return at === end && end <= octets.length ? end : 0;
}

/** Octets of a text that are read. */
const TEXT_OCTETS = 1024;

/**
 * Receipts are written in ASCII or UCS-2, and data_coding does not tell which: some SMSCs write UCS-2 without declaring
 * it, others declare it because the message was in UCS-2, and write ASCII.
 */
function decodeText(octets: Uint8Array, dataCoding: number): string {
  const plain = (Buffer.isBuffer(octets) ? octets : Buffer.from(octets)).toString("latin1", 0, TEXT_OCTETS);
  if (octets[0] !== 0 && (dataCoding !== UCS2 || /id\s*[:=]/i.test(plain))) return plain;
  const length = Math.min(TEXT_OCTETS, octets.length) & ~1;
  return Buffer.from(octets.subarray(0, length)).swap16().toString("utf16le");
}

/** `delivrd` and `DELIVERED` are DELIVRD, and so is the digit 2; an unknown word stays as it is, capitalised. */
function standardWord(stat: string): string {
  const word = bareId(stat).toUpperCase();
  const byNumber = /^\d$/.test(word) ? WORD_OF_STATE.get(Number(word)) : undefined;
  return byNumber ?? OTHER_SPELLINGS[word] ?? word;
}

/** The receipt in the provider's own words: only known keys, so that none of the message's text can be among them. */
function rawReceipt(message: ShortMessage, fields: TextFields): string {
  const words: string[] = [];
  for (const key of KEYS) if (fields[key] !== undefined) words.push(`${key}:${fields[key]}`);
  if (message.tlvs.size === 0) return words.join(" ").slice(0, RAW_LIMIT);
  const tlv = (name: string, tag: number) => {
    const value = message.tlvs.get(tag);
    return value ? [`${name}=${Buffer.from(value.subarray(0, 8)).toString("hex")}`] : [];
  };
  const id = tlvText(message, TAG.receiptedMessageId);
  const tlvs = [
    ...(id ? [`receipted_message_id=${id}`] : []),
    ...tlv("message_state", TAG.messageState),
    ...tlv("network_error_code", TAG.networkErrorCode),
  ];
  return [...words, ...tlvs].join(" ").slice(0, RAW_LIMIT);
}
