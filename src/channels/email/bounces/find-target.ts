import type { PartRef } from "../../../core/messages/outcome.ts";
import type { PartAddresses } from "../part-address.ts";
import { PART_TOKEN } from "../part-token.ts";
import type { UnsubscribeTokens, Unsubscription } from "../unsubscribe-token.ts";
import { decodedOctets, decodedWords, isEncoded, parseEntity, walk } from "./mime.ts";

/** Octets searched, and addresses tried: a report quotes one mail of ours at most. */
const MAX_OCTETS = 1024 * 1024;
const MAX_TRIED = 50;

/** The recipient whose return path a report quotes. For reports that come to another address than a return path. */
export function findTarget(raw: Uint8Array, returnPaths: PartAddresses): PartRef | undefined {
  return firstRead(raw, RETURN_PATH, ([local]) => returnPaths.read(`${local}@host`));
}

const RETURN_PATH = new RegExp(`\\bb-${PART_TOKEN}(?=@|=40)`, "gi");

/** What the unsubscribe link of the mail that a report quotes stands for: it outlives the message. */
export function findUnsubscription(
  raw: Uint8Array,
  unsubscribes: UnsubscribeTokens,
): Unsubscription | undefined {
  return firstRead(raw, LINK, ([, token = ""]) => unsubscribes.open(token));
}

/** In the header `List-Unsubscribe`: the URL, or the subject of the address. */
const LINK = /(?:\/unsubscribe\/|\?subject=)([\w-]{64,480})(?=>)/g;

function firstRead<T>(
  raw: Uint8Array,
  pattern: RegExp,
  read: (match: RegExpExecArray) => T | undefined,
): T | undefined {
  let tried = 0;
  for (const text of textsIn(raw)) {
    for (const match of text.matchAll(pattern)) {
      const found = read(match);
      if (found !== undefined || ++tried >= MAX_TRIED) return found;
    }
  }
  return undefined;
}

/**
 * The report as it came, then as it was before relays encoded it: some make encoded words of a long `List-Unsubscribe` (against RFC 2047
 * §5), and some encode even the quoted mail (against RFC 2046 §5.2.1).
 */
function* textsIn(raw: Uint8Array): Generator<string> {
  const octets = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, MAX_OCTETS));
  const text = octets.toString("latin1");
  yield text;
  yield decodedWords((text.match(LINK_HEADER) ?? []).join("\n").slice(0, MAX_HEADER_OCTETS));
  for (const part of walk(parseEntity(text))) if (isEncoded(part)) yield decodedOctets(part, MAX_OCTETS);
}

const LINK_HEADER = /^List-Unsubscribe:.*(?:\r?\n[ \t].*)*/gim;

/** A report quotes one such header. To decode half a megabyte of words would keep all else waiting. */
const MAX_HEADER_OCTETS = 16 * 1024;
