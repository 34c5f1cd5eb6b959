import type { Receipt } from "../../../core/messages/outcome.ts";
import { dltScrubError, type OwnCodes } from "../dlt-scrub-codes.ts";
import { ESM_UDHI, type ShortMessage, TAG } from "./pdu.ts";

/** A receipt as the SMSC told it; who it came through and when is added by the channel. */
export type SmppReceipt = Omit<Receipt, "connectorId" | "receivedAt">;

type ReceiptStatus = Receipt["status"];

/** esm_class, bits 5 to 2 (§5.2.12): what kind of message this is. */
const MESSAGE_TYPE = 0x3c;
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTICE = 0x20;

/** UCS-2 big-endian, in data_coding. */
const UCS2 = 8;

const RAW_LIMIT = 255;

/** message_state (§5.2.28), the words a receipt's text has for it (appendix B), and our status. SKIPPED and SCHEDULED are of version 5. */
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

/** Spellings seen beside the seven letters of the standard. */
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

/** In these states a message has been handed on, so a scrub code beside them is not a refusal. */
const NOT_REFUSED: ReadonlySet<string> = new Set(["SCHEDULED", "ENROUTE", "DELIVRD", "ACCEPTD"]);

/** True for a deliver_sm or data_sm that tells of a message sent before; false for one a handset sent. */
export function isReceipt(message: ShortMessage): boolean {
  const type = message.esmClass & MESSAGE_TYPE;
  // Some SMSCs forget the type. A handset cannot make TLVs, but it can write any text: that alone proves nothing.
  return (
    type === DELIVERY_RECEIPT || type === INTERMEDIATE_NOTICE || message.tlvs.has(TAG.receiptedMessageId)
  );
}

/**
 * Reads a receipt by its TLVs and, where they are missing, by its text. `undefined` if it does not say which
 * message it is about. Status words nobody knows are `sent`: they prove neither success nor failure. `own`: the
 * connector's scrub codes.
 */
export function readReceipt(message: ShortMessage, own?: OwnCodes): SmppReceipt | undefined {
  const tlvId = tlvText(message, TAG.receiptedMessageId);
  const found = textFields(receiptText(message));
  // Beside TLVs the text may be the customer's own words: only one that names a state is a receipt's.
  const fields = tlvId && !found.stat ? {} : found;
  const providerMessageId = tlvId || fields.id;
  if (!providerMessageId) return undefined;
  const isNotice = (message.esmClass & MESSAGE_TYPE) === INTERMEDIATE_NOTICE;
  const word = stateWord(message) ?? wordOf(fields.stat ?? "");
  const code = networkCode(message) ?? fields.err;
  const verdict = isNotice ? { status: "sent" as const } : judge(word, code, own);
  const raw = rawReceipt(message, fields);
  const reference = userReference(message);
  return {
    providerMessageId: providerMessageId.slice(0, RAW_LIMIT),
    ...verdict,
    ...(message.source.address && { recipient: message.source.address }),
    ...(reference !== undefined && { reference }),
    ...(raw && { raw }),
  };
}

/** What a message_state and the error beside it come to; `undefined` for a state nobody knows. */
export function readState(state: number, errorCode: number): Pick<Receipt, "status" | "error"> | undefined {
  const word = STATES.find(([known]) => known === state)?.[1];
  if (word === undefined) return undefined;
  return judge(word, errorCode === 0 ? undefined : String(errorCode));
}

type Verdict = Pick<SmppReceipt, "status" | "error">;

function judge(word: string, code: string | undefined, own?: OwnCodes): Verdict {
  const scrubbed = NOT_REFUSED.has(word) ? undefined : dltScrubError(code, own);
  if (scrubbed) return { status: "failed", error: scrubbed };
  const status = STATES.find(([, known]) => known === word)?.[2] ?? "sent";
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

/** user_message_reference (§5.3.2.17), as the submit_sm had it. */
function userReference(message: ShortMessage): number | undefined {
  const value = message.tlvs.get(TAG.userMessageReference);
  return value?.length === 2 ? Buffer.from(value).readUInt16BE() : undefined;
}

function stateWord(message: ShortMessage): string | undefined {
  const value = message.tlvs.get(TAG.messageState);
  return value?.length === 1 ? STATES.find(([state]) => state === value[0])?.[1] : undefined;
}

/** network_error_code (§5.3.2.31): network type and a number; 0 is no error. */
function networkCode(message: ShortMessage): string | undefined {
  const value = message.tlvs.get(TAG.networkErrorCode);
  if (value?.length !== 3) return undefined;
  const code = Buffer.from(value).readUInt16BE(1);
  return code === 0 ? undefined : String(code);
}

// ---------------------------------------------------------------- text

/** Keys of appendix B. Each is looked for on its own: they come in any order and case, and some do not come. */
const KEYS = ["id", "sub", "dlvrd", "submit date", "done date", "stat", "err"] as const;

type TextFields = Partial<Record<(typeof KEYS)[number], string>>;

/** A value ends at a blank; one that is itself a key is missing. */
const PATTERNS = KEYS.map((key) => [key, patternOf(key)] as const);

function patternOf(key: string): RegExp {
  const name = key === "stat" ? "stat(?:us)?" : key.replace(" ", "[ _]?");
  return new RegExp(`(?:^|[\\s,;])${name}\\s*:[ \\t]*([^\\s,;]+)`, "i");
}

/** As appendix B writes it, which most do: one look then finds what one for each key would. */
const STANDARD = new RegExp(`^${KEYS.map((key) => `${key}:([^\\s,;:]+)`).join(" ")} *$`, "i");

function textFields(text: string): TextFields {
  const standard = STANDARD.exec(text);
  if (standard) return standardFields(standard);
  const fields: TextFields = {};
  for (const [key, pattern] of PATTERNS) {
    const value = pattern.exec(text)?.[1];
    if (value && !/^(?:id|sub|dlvrd|submit|done|stat|status|err|text):/i.test(value)) fields[key] = value;
  }
  return fields;
}

/** In the order of `KEYS`. */
function standardFields(found: RegExpExecArray): TextFields {
  const [, id = "", sub = "", dlvrd = "", submitDate = "", doneDate = "", stat = "", err = ""] = found;
  return { id, sub, dlvrd, "submit date": submitDate, "done date": doneDate, stat, err };
}

/**
 * The text of a receipt up to its `text:` key. What follows was written by our own customer, who could have
 * written `stat:` there too, and is never kept.
 */
function receiptText(message: ShortMessage): string {
  // Some SMSCs end the text with a NUL, as if it were a C-octet string.
  const text = decodeText(withoutHeader(message), message.dataCoding).replaceAll("\0", " ");
  const end = text.search(/text\s*:/i);
  return end < 0 ? text : text.slice(0, end);
}

function withoutHeader(message: ShortMessage): Uint8Array {
  const isInTlv = message.shortMessage.length === 0;
  const octets = (isInTlv && message.tlvs.get(TAG.messagePayload)) || message.shortMessage;
  return message.esmClass & ESM_UDHI ? octets.subarray(1 + (octets[0] ?? 0)) : octets;
}

/** Of a text no more is looked at. */
const TEXT_OCTETS = 1024;

/**
 * Receipts are written in ASCII, or in UCS-2, which not every SMSC then declares; others declare it because the message
 * was in UCS-2, and write ASCII.
 */
function decodeText(octets: Uint8Array, dataCoding: number): string {
  const plain = (Buffer.isBuffer(octets) ? octets : Buffer.from(octets)).toString("latin1", 0, TEXT_OCTETS);
  if (octets[0] !== 0 && (dataCoding !== UCS2 || /id\s*:/i.test(plain))) return plain;
  const length = Math.min(TEXT_OCTETS, octets.length) & ~1;
  return Buffer.from(octets.subarray(0, length)).swap16().toString("utf16le");
}

/** `delivrd` and `DELIVERED` are DELIVRD, and so is the digit 2; an unknown word stays as it is, capitalised. */
function wordOf(stat: string): string {
  const word = stat.toUpperCase();
  const byNumber = /^\d$/.test(word) ? STATES.find(([state]) => state === Number(word))?.[1] : undefined;
  return byNumber ?? OTHER_SPELLINGS[word] ?? word;
}

/** The provider's own words, made of the keys we know, so that nothing of the message's text can be among them. */
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
