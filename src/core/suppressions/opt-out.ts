/** The words by which people opt out of messages and back in, and the sender to which that applies. */
import { toInboundAddress } from "../inbound/inbound-address.ts";
import type { Content } from "../messages/message.ts";
import { readSetting, type StoredSettings } from "../records/settings.ts";
import { sentFrom } from "../sms/sent-from.ts";

export const KEYWORD_MEANINGS = ["stop", "start"] as const;
export type KeywordMeaning = (typeof KEYWORD_MEANINGS)[number];

/**
 * What a message asks for, if its whole text is one of the account's words. Case, width and composition of letters do not
 * matter, nor do other characters: `Stop.` means STOP, and `stop all` means STOPALL.
 */
export function readKeyword(text: string, settings: StoredSettings): KeywordMeaning | undefined {
  if (text.trim().length > MAX_TEXT || readSetting(settings, "opt_out_scope") === "off") return undefined;
  const word = plainWord(text);
  if (wordsOf(readSetting(settings, "stop_words")).includes(word)) return "stop";
  return wordsOf(readSetting(settings, "start_words")).includes(word) ? "start" : undefined;
}

/** The sender that a stop word to this number applies to; `undefined`: all senders of the account. */
export function optOutSender(to: string, settings: StoredSettings): string | undefined {
  return readSetting(settings, "opt_out_scope") === "account" ? undefined : senderKey(to);
}

/** A sender in the form that opt-outs use, in which `15550123` and `+15550123` are the same. */
export function senderKey(sender: string): string {
  return toInboundAddress(sender);
}

/** The sender of a message in that form; `undefined` for an email, or for an SMS without a sender. */
export function senderKeyOf(content: Content): string | undefined {
  const from = content.channel === "sms" ? sentFrom(content) : undefined;
  return from === undefined ? undefined : senderKey(from);
}

/** A longer text cannot be a stop word, which has at most 40 characters. */
const MAX_TEXT = 100;

function wordsOf(list: string): readonly string[] {
  return list.split(",").map(plainWord);
}

/** A word without letters, such as a sign, is compared as it is. */
function plainWord(text: string): string {
  const word = text.normalize("NFKC").toUpperCase().replaceAll(DOTTED_I, "I");
  return word.replaceAll(NO_PART_OF_WORDS, "") || word.replaceAll(INVISIBLE, "");
}

/** Only in Turkish and its like: there it is the capital of `i`, which is `I` here as everywhere else. */
const DOTTED_I = /\u0130|I\u0307/g;

/** What is never shown is no part either. Phones write `❗` with a selector behind it, which is a mark as accents are. */
const NO_PART_OF_WORDS = /[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point}/gu;
const INVISIBLE = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
