/**
 * Cursors of the event feed: to clients, opaque text. Events are numbered over all accounts, so a number would tell how much
 * the others send; a cursor is the number and a mark of its account, sealed under a key of the database.
 */
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";

/** Stands for the end of the feed at the time of the request. */
export const NOW = "now";

export interface EventCursors {
  /** The same for the same number, so that a reader sees that it has not moved. */
  seal(accountId: string, number: number): string;
  /** The number in a cursor; `undefined` for a text that is no cursor of this account. */
  open(accountId: string, text: string): number | undefined;
}

/** @param key 32 octets */
export function createEventCursors(key: Uint8Array): EventCursors {
  return {
    seal(accountId, number) {
      const block = Buffer.alloc(BLOCK);
      markOf(accountId).copy(block);
      block.writeBigUInt64BE(BigInt(number), MARK);
      return createCipheriv(CIPHER, key, null).setAutoPadding(false).update(block).toString("base64url");
    },
    open(accountId, text) {
      const sealed = Buffer.from(text, "base64url");
      if (sealed.length !== BLOCK || sealed.toString("base64url") !== text) return undefined;
      const block = createDecipheriv(CIPHER, key, null).setAutoPadding(false).update(sealed);
      if (!block.subarray(0, MARK).equals(markOf(accountId))) return undefined;
      return Number(block.readBigUInt64BE(MARK));
    },
  };
}

/** A single block, in which the mark makes a forged one fail: no mode that chains blocks would add to that. */
const CIPHER = "aes-256-ecb";
const BLOCK = 16;
const MARK = 8;

function markOf(accountId: string): Buffer {
  return createHash("sha256").update(accountId).digest().subarray(0, MARK);
}
