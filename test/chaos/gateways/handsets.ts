/** What handsets write to the accounts' numbers: a gateway hands it on until the service has stored it, and some of it again. */
import { createDice } from "../dice.ts";
import { isOwed } from "../owed-receipts.ts";
import { post, type Reporting } from "./reports.ts";

/** The way of a gateway to the service. */
export interface Line extends Pick<Reporting, "naming" | "secret" | "service"> {
  readonly callbackUrl: string;
}

/** A message that a handset has written. */
export interface Written {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** A part of it, or all. */
interface Piece {
  readonly id: string;
  readonly text: string;
  /** Its place, counted from 1. */
  readonly number: number;
  /** How often it is handed on, however soon it was stored. */
  readonly copies: readonly Copy[];
}

interface Copy {
  readonly dueMs: number;
  /** When it was handed on, by the clock of the processes. */
  readonly times: number[];
  isUnderWay: boolean;
  storedAtMs?: number;
  /** Not before this time again. */
  againMs: number;
  tries: number;
}

export interface Handsets {
  readonly written: readonly Written[];
  readonly problems: readonly string[];
  write(message: { readonly to: string; readonly pieces: number; readonly over: Line }): void;
  /** Copies that are not stored yet. */
  owed(): number;
  close(): Promise<void>;
}

const PUMP_MS = 20;
const AGAIN_MS = 200;

/** Of each part but the last. */
const PIECE_LENGTH = 60;
const FIRST_HANDSET = 447_900_000_000;

export function startHandsets(seed: string, now: () => number): Handsets {
  const written: (Written & { readonly over: Line })[] = [];
  const problems: string[] = [];
  const pump = setInterval(() => {
    for (const message of written)
      for (const piece of message.pieces)
        for (const copy of piece.copies)
          if (isDue(copy)) void handOn({ message, piece, copy, problems, now });
  }, PUMP_MS);
  return {
    written,
    problems,
    write({ to, pieces, over }) {
      const index = written.length;
      const text = `Reply ${index}. ${"Żółw ipsum ".repeat(20)}`.slice(
        0,
        PIECE_LENGTH * pieces - (index % 30),
      );
      const made = Array.from({ length: pieces }, (_, place) =>
        pieceOf(`${seed}/${index}/${place}`, { text, index, place }),
      );
      written.push({ from: `+${FIRST_HANDSET + index}`, to, text, pieces: made, over });
    },
    owed: () => written.flatMap(({ pieces }) => pieces.flatMap(({ copies }) => copies.filter(isOwed))).length,
    async close() {
      clearInterval(pump);
    },
  };
}

function pieceOf(
  seed: string,
  { text, index, place }: { readonly text: string; readonly index: number; readonly place: number },
): Piece {
  const dice = createDice(`${seed}/handset`);
  const firstMs = Date.now() + dice.between(0, 150);
  const count = dice.pick({ one: 6, two: 3, three: 1 });
  // Some at the same moment, so that two processes may have them at once.
  const copies = Array.from({ length: { one: 1, two: 2, three: 3 }[count] }, () =>
    newCopy(dice.chance(0.5) ? firstMs : firstMs + dice.between(0, 300)),
  );
  return {
    id: `mo-${index}-${place}`,
    text: text.slice(place * PIECE_LENGTH, (place + 1) * PIECE_LENGTH),
    number: place + 1,
    copies,
  };
}

function newCopy(dueMs: number): Copy {
  return { dueMs, times: [], isUnderWay: false, againMs: 0, tries: 0 };
}

function isDue(copy: Copy): boolean {
  return isOwed(copy) && !copy.isUnderWay && Math.max(copy.dueMs, copy.againMs) <= Date.now();
}

interface HandingOn {
  readonly message: Written & { readonly over: Line };
  readonly piece: Piece;
  readonly copy: Copy;
  readonly problems: string[];
  readonly now: () => number;
}

async function handOn({ message, piece, copy, problems, now }: HandingOn): Promise<void> {
  const { from, to, pieces, over } = message;
  const { id, text, number } = piece;
  copy.isUnderWay = true;
  copy.tries++;
  copy.times.push(now());
  const place = pieces.length > 1 && {
    ref: from.slice(-4),
    total: String(pieces.length),
    number: String(number),
  };
  const status = await post(over, over.callbackUrl, [{ kind: "MO", id, from, to, text, ...place }]);
  copy.isUnderWay = false;
  copy.againMs = Date.now() + AGAIN_MS;
  if (status === 200) copy.storedAtMs = Date.now();
  else if (status !== undefined && status !== 503) problems.push(`${id} is answered with ${status}`);
}
