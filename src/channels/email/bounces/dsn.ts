/** Reads delivery status notifications: RFC 3464, and what servers make of it. Pure. */
import { enhancedCodeIn } from "../../../core/email/bounce-kind.ts";
import { decodedBody, type Entity, fromUtf8, header, mediaType, walk } from "./mime.ts";
import { reasonsInWords } from "./reasons-in-words.ts";
import { type FieldGroup, parseFieldGroups, typedValue } from "./report-fields.ts";
import { plainAddress, plainWords, wordsIn } from "./report-words.ts";

export type DsnAction = "failed" | "delayed" | "delivered" | "relayed" | "expanded";

/** One recipient's outcome. */
export interface DsnRecipient {
  readonly action: DsnAction;
  /** The enhanced status code (`5.1.1`), else the reply code (`smtp.550`); absent where the report gives neither. */
  readonly code?: string;
  /** As the report writes it: whom the mail was for, or what that leads to where the report says nothing else. */
  readonly recipient?: string;
  /** Why: Diagnostic-Code, which is what the server that refused it said, or else the words for people. */
  readonly text?: string;
  /** Remote-MTA: the server that refused it. */
  readonly server?: string;
  /** What the refusal answered: RCPT TO, or DATA; absent: not known. */
  readonly stage?: "recipient" | "message";
  /** It was on its way to another address, behind which there may be more: the recipient is an alias. */
  readonly isForwarded?: true;
}

const MAX_STATUS_OCTETS = 128 * 1024;

/** The outcomes that a report holds; `undefined` where the mail holds none that a program can read. */
export function readDsn(mail: Entity): readonly DsnRecipient[] | undefined {
  let words = "";
  for (const part of walk(mail)) {
    const type = mediaType(part);
    if (type === "text/plain" && words === "") words = wordsIn(part);
    const status = statusText(part, type);
    if (status === undefined) continue;
    // Once for all recipients: there may be two hundred of them.
    const said = { stage: stageOf(words), reasons: reasonsInWords(words), aliases: aliasesIn(words) };
    const recipients = parseFieldGroups(status).flatMap((group) => toRecipient(group, said) ?? []);
    if (recipients.length > 0) return recipients;
  }
  return undefined;
}

/** The fields of a report, if the part holds them; some servers send them as plain text. */
function statusText(part: Entity, type: string): string | undefined {
  if (type.startsWith("multipart/")) return undefined;
  if (/^message\/(?:global-)?delivery-status$/.test(type)) return decodedBody(part, MAX_STATUS_OCTETS);
  if (type !== "text/plain" || header(part, "content-type") === "") return undefined;
  const text = wordsIn(part);
  return /^Final-Recipient:/im.test(text) && /^Action:/im.test(text) ? text : undefined;
}

/** What the report says for people: what was refused, by all of the words, why, by address, and which addresses are aliases. */
interface Said {
  readonly stage: DsnRecipient["stage"];
  readonly reasons: ReadonlyMap<string, string>;
  readonly aliases: ReadonlySet<string>;
}

/**
 * Exim and Sendmail give the alias as Final-Recipient, and have only words for what it leads to: `(generated from ann@example.net)` of the
 * one, and of the other `(expanded from: <ann@example.net>)` below the address that it leads to, which may be its own.
 */
export function aliasesIn(words: string): ReadonlySet<string> {
  const ofExim = [...words.matchAll(/\bgenerated (?:from|by) ([^\s()]{1,320})\)/g)].map(
    ([, alias = ""]) => alias,
  );
  const ofSendmail = [...words.matchAll(EXPANDED)].flatMap(([, target = "", alias = ""]) =>
    target.toLowerCase() === alias.toLowerCase() ? [] : [alias],
  );
  return new Set([...ofExim, ...ofSendmail].map((alias) => alias.toLowerCase()));
}

const EXPANDED =
  /^<?([^\s<>]{1,320})>?\r?\n(?:[ \t].*\r?\n)*?[ \t]+\(expanded from: <?([^\s()<>]{1,320})>?\)/gm;

function toRecipient(group: FieldGroup, said: Said): DsnRecipient | undefined {
  const final = addressIn(group.get("final-recipient"));
  const original = addressIn(group.get("original-recipient"));
  if (!group.has("final-recipient") && !group.has("original-recipient") && !group.has("action")) {
    return undefined;
  }
  // OpenSMTPD has no Diagnostic-Code, nor has Exim where no other server has refused it.
  const reason = said.reasons.get(final.toLowerCase()) ?? "";
  const text = plainWords(typedValue(group.get("diagnostic-code") ?? "")) || reason;
  const status = group.get("status") ?? "";
  const code = codeOf(status, text);
  const action =
    text === GIVEN_UP ? "failed" : actionOf(group.get("action") ?? "", enhancedCodeIn(status) ?? code);
  if (!action) return undefined;
  const stage = said.stage === "message" ? said.stage : (stageOf(text) ?? said.stage);
  const server = typedValue(group.get("remote-mta") ?? "");
  const isAlias = isOther(original, final);
  const recipient = isAlias ? original : final || original;
  const isForwarded = isAlias || said.aliases.has(final.toLowerCase());
  return {
    action,
    ...(code !== undefined && { code }),
    ...(recipient !== "" && { recipient }),
    ...(isForwarded && { isForwarded }),
    ...(text !== "" && { text }),
    ...(server !== "" && { server }),
    ...(stage && { stage }),
  };
}

/** OpenSMTPD up to 6.8 says `delayed` (4.4.7) also of what it has given up, as Exchange does of a delay: only the words tell. */
const GIVEN_UP = "Envelope expired";

/** Exim leaves the original one in the xtext that it came in (RFC 3461 §4): `ann+2Bshop@example.net`. */
function isOther(original: string, final: string): boolean {
  const octets = original.replaceAll(/\+([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const plain = fromUtf8(octets);
  const isFinal = (address: string) => address.toLowerCase() === final.toLowerCase();
  return original !== "" && final !== "" && !isFinal(original) && !isFinal(plain);
}

function addressIn(field = ""): string {
  return plainAddress(typedValue(field).replace(/^<|>$/g, ""));
}

const ACTIONS: readonly DsnAction[] = ["failed", "delayed", "delivered", "relayed", "expanded"];

/** The action, or what the code says where it is left out. */
function actionOf(word: string, code: string | undefined): DsnAction | undefined {
  const given = /^[a-z]+/i.exec(word)?.[0].toLowerCase();
  const known = ACTIONS.find((action) => action === given);
  if (known) return known;
  const digit = /^(?:smtp\.)?([245])/.exec(code ?? "")?.[1];
  return digit === "5" ? "failed" : digit === "4" ? "delayed" : digit === "2" ? "delivered" : undefined;
}

/**
 * The more specific of the two codes: the status is often a mere 5.0.0. Exim says that also of what the far server has put off (`450 4.1.1`)
 * until Exim gave up.
 */
export function codeOf(status: string, diagnostic: string): string | undefined {
  const own = enhancedCodeIn(status);
  if (own !== undefined && !own.endsWith(".0.0")) return own;
  const isOfSame = ([digit]: string) =>
    own === undefined || digit === own[0] || (own === "5.0.0" && digit === "4");
  const theirs = enhancedCodeIn(diagnostic);
  if (theirs !== undefined && isOfSame(theirs)) return theirs;
  const basic = /(?:^|[^\d.])([45]\d\d)[ -]/.exec(diagnostic)?.[1];
  return basic !== undefined && isOfSame(basic) ? `smtp.${basic}` : own;
}

/** What a refusal answered, by the words of Postfix (`in reply to end of DATA command`) and Exim (`after RCPT TO:<…>`). */
export function stageOf(text: string): "recipient" | "message" | undefined {
  if (
    /(?:in reply to|after)\s+(?:the\s+)?(?:sending\s+)?(?:end of )?(?:pipelined )?(?:DATA|data)\b/.test(text)
  )
    return "message";
  return /(?:in reply to|after)\s+(?:the\s+)?(?:pipelined )?RCPT TO\b/i.test(text) ? "recipient" : undefined;
}
