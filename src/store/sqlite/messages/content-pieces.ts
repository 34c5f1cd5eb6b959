import { setImmediate } from "node:timers/promises";
import { LARGE_BODY } from "../../../core/email/large-body.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import type { Database } from "../database/database.ts";

/** The texts of an email; at least one is there. */
export type BodyTexts = Pick<EmailContent, "bodyText" | "bodyHtml">;

/** Texts that are too large for one row, stored in pieces so that neither writing nor reading them makes others wait. */
export interface ContentPieces {
  /** Resolves with the number of pieces once all are on disk. The content that they belong to is written afterwards. */
  write(content: number, texts: BodyTexts): Promise<number>;
  /** Deletes the pieces that `write` has written, even if it has only written some of them. */
  drop(content: number): Promise<void>;
  /** Reads the texts; `undefined` if there are no longer `count` pieces: they have been wiped. */
  read(content: number, count: number): Promise<BodyTexts | undefined>;
}

/** The characters in a piece. Each piece is a row, and a separate write. */
const PIECE = LARGE_BODY / 2;

/** After how many pieces a checkpoint is made: a single one at the end would make others wait. */
const CHECKPOINT_EVERY = 16;

const FIELDS = ["bodyText", "bodyHtml"] as const;

export function createContentPieces(db: Database): ContentPieces {
  const insert = db.prepare("INSERT INTO content_pieces (content, field, place, text) VALUES (?, ?, ?, ?)");
  const remove = db.prepare("DELETE FROM content_pieces WHERE content = ?");
  const checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  const find = db.prepare<{ text: string }>(
    "SELECT text FROM content_pieces WHERE content = ? AND field = ? AND place = ?",
  );

  const readField = async (content: number, field: string): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (;;) {
      const piece = await db.read(() => find.get(content, field, texts.length));
      if (!piece) return texts;
      texts.push(piece.text);
      await setImmediate();
    }
  };

  return {
    async write(content, texts) {
      let count = 0;
      for (const field of FIELDS) {
        for (const [place, text] of piecesOf(texts[field] ?? "").entries()) {
          await db.write(() => void insert.run(content, field, place, text));
          count++;
          if (count % CHECKPOINT_EVERY === 0) await db.outsideTransaction(() => void checkpoint.all());
        }
      }
      return count;
    },
    drop: (content) => db.write(() => void remove.run(content)),
    async read(content, count) {
      const bodyText = await readField(content, "bodyText");
      const bodyHtml = await readField(content, "bodyHtml");
      if (bodyText.length + bodyHtml.length !== count) return undefined;
      return {
        ...(bodyText.length > 0 && { bodyText: bodyText.join("") }),
        ...(bodyHtml.length > 0 && { bodyHtml: bodyHtml.join("") }),
      };
    },
  };
}

/** Deletes pieces without a content: a crash between the two writes leaves them behind. */
export function removeLoosePieces(db: Database): Promise<void> {
  return db.write(() => {
    db.prepare(
      `DELETE FROM content_pieces WHERE content IN
         (SELECT p.content FROM content_pieces p WHERE NOT EXISTS (SELECT 1 FROM contents c WHERE c.id = p.content))`,
    ).run();
  });
}

/** Never splits a surrogate pair: half of one would not survive UTF-8. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length);
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff && end < text.length) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
