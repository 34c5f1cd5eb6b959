import type { InboundMessage, InboundPiece, InboundResult } from "../../core/inbound/inbound.ts";
import { readSetting, type StoredSettings } from "../../core/records/settings.ts";
import {
  type KeywordMeaning,
  optOutSender,
  readKeyword,
  senderKey,
} from "../../core/suppressions/opt-out.ts";
import type { InboundParts, WholeMessage } from "./inbound-parts.ts";

/** What the rules about inbound messages read and write. Each engine provides it, inside a transaction. */
export interface InboundState {
  readonly parts: InboundParts;
  /** What came with the piece's key before; `undefined`: nothing. */
  repeated(piece: InboundPiece): RepeatedMessage | undefined;
  /** The id of the account whose number or short code the message was sent to. */
  ownerOf(message: WholeMessage): string | undefined;
  accountOf(id: string): InboundAccount | undefined;
  insert(message: InboundMessage, more: { key: string; webhookUrl: string | undefined }): void;
  /** Adds an event for the account, and a webhook to `url` if there is one. */
  tell(message: InboundMessage, account: InboundAccount, url: string | undefined): void;
  readonly optOuts: OptOutChanges;
}

export interface RepeatedMessage {
  /** Whether the handset has written a start word to the number since. */
  readonly isBeforeStart: boolean;
}

export interface InboundAccount {
  readonly number: number;
  readonly account: { readonly id: string };
  readonly settings: StoredSettings;
}

/** Changes opt-outs, inside a transaction. */
export interface OptOutChanges {
  add(optOut: OptOutTarget & { readonly id: string; readonly reason: string; readonly at: number }): void;
  /** Removes the recipient's opt-outs from this sender, and from all senders of the account. */
  remove(target: OptOutTarget): void;
}

/** A recipient, and what it opts out of: the messages of one sender, or of the whole account. */
export interface OptOutTarget {
  readonly accountId: string;
  /** As `senderKey` writes it; `undefined`: all senders of the account. */
  readonly sender: string | undefined;
  readonly recipient: string;
}

export function takeInbound(state: InboundState, piece: InboundPiece): InboundResult {
  if (!piece.part) {
    const repeated = state.repeated(piece);
    if (repeated && !(repeated.isBeforeStart && isStopWithoutId(state, piece))) return { kind: "repeat" };
    return keepInbound(state, { ...piece, text: piece.text.toWellFormed() });
  }
  const { kind, messages } = state.parts.add(piece, piece.part);
  const kept = messages.map((message) => keepInbound(state, message)).at(-1);
  return kind === "whole" && kept ? kept : { kind: kind === "repeat" ? "repeat" : "waiting" };
}

/**
 * STOP after START may be the STOP from before it, delivered again, or one that the handset has written since. Nobody can tell, so it
 * counts: it is worse to write to somebody who wants no more than to wait for another START.
 */
function isStopWithoutId(state: InboundState, piece: InboundPiece): boolean {
  return piece.hasNoId === true && keywordIn(piece, accountFor(state, piece)) === "stop";
}

/** Stores a whole message for its account, with its event, and follows its keyword (STOP, START). */
export function keepInbound(state: InboundState, whole: WholeMessage): InboundResult {
  const { key, accountId: _, ...rest } = whole;
  const entry = accountFor(state, whole);
  const keyword = keywordIn(whole, entry);
  const webhookUrl = entry && readSetting(entry.settings, "inbound_url");
  const message = { ...rest, ...(entry && { accountId: entry.account.id }), ...(keyword && { keyword }) };
  state.insert(message, { key, webhookUrl });
  if (!entry) return { kind: "stored" };
  state.tell(message, entry, webhookUrl);
  if (keyword) followKeyword(state.optOuts, keyword, { message: whole, entry });
  return { kind: "stored", accountId: entry.account.id, ...(keyword && { keyword }) };
}

function accountFor(state: InboundState, message: WholeMessage): InboundAccount | undefined {
  const accountId = message.accountId ?? state.ownerOf(message);
  return accountId === undefined ? undefined : state.accountOf(accountId);
}

function keywordIn({ text }: WholeMessage, entry: InboundAccount | undefined): KeywordMeaning | undefined {
  return entry && readKeyword(text, entry.settings);
}

function followKeyword(
  optOuts: OptOutChanges,
  keyword: KeywordMeaning,
  { message, entry }: { readonly message: WholeMessage; readonly entry: InboundAccount },
): void {
  const { id, from, to, text, receivedAt } = message;
  const who = { accountId: entry.account.id, recipient: from };
  // START lifts whatever an earlier STOP did, even if a STOP would have another scope by the settings of today.
  if (keyword === "start") {
    optOuts.remove({ ...who, sender: senderKey(to) });
    return;
  }
  const sender = optOutSender(to, entry.settings);
  optOuts.add({ ...who, sender, id, reason: `wrote ${text.trim().toUpperCase()}`, at: receivedAt });
}
