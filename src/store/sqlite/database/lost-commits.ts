import { closeSync, openSync, readSync, realpathSync } from "node:fs";

/** https://www.sqlite.org/fileformat2.html#the_write_ahead_log: a header, then frames of a header and a page; in octets. */
const LOG_HEADER = 32;
const FRAME_HEADER = 24;

/** The log's first number, which also says that checksums add numbers as this machine reads them: the lowest octet first. */
const MAGIC = 0x377f0682;

/** How many octets are read at a time, at least. */
const CHUNK = 1_048_576;

/**
 * For a database that nobody has open: how many commits SQLite is about to drop from its write-ahead log, because a frame before
 * them is damaged; at least so many. 0 also if nobody can tell: a power cut leaves a part of a last commit, which was not confirmed
 * and looks like damage. But a commit behind which another was written had been synced. Reads the whole log, as SQLite will.
 */
export function countLostCommits(database: string): number {
  try {
    // SQLite keeps the log beside the file itself, even if that is opened through a symbolic link.
    return countAt(`${realpathSync(database)}-wal`);
  } catch {
    // After a clean stop there is no log. One that cannot be read is for SQLite to report.
    return 0;
  }
}

function countAt(log: string): number {
  const file = openSync(log, "r");
  try {
    return countIn(file);
  } finally {
    closeSync(file);
  }
}

function countIn(file: number): number {
  const [header] = piecesOf(file, LOG_HEADER, 0);
  // If the log's own header is damaged, all of it may have been in the database already.
  if (!header || header.getUint32(0) !== MAGIC) return 0;
  if (!isSame(sumOf(wordsIn(header, 0, 24), [0, 0]), pairAt(header, 24))) return 0;
  const salts = pairAt(header, 16);
  let before = pairAt(header, 24);
  let isDamaged = false;
  let isLostCommit = false;
  let lost = 0;
  for (const frame of piecesOf(file, FRAME_HEADER + header.getUint32(8), LOG_HEADER)) {
    const checksum = pairAt(frame, 16);
    const isOfLog = isSame(pairAt(frame, 8), salts);
    const isNext = isOfLog && isSame(checksum, sumOfFrame(frame, before));
    if (isNext && isLostCommit) lost++;
    isDamaged ||= !isNext;
    isLostCommit = isDamaged && isOfLog && frame.getUint32(4) > 0;
    before = checksum;
  }
  return lost;
}

/** The complete pieces of this size from a place on; each is valid until the next. */
function* piecesOf(file: number, size: number, from: number): Iterable<DataView> {
  const chunk = new Uint8Array(Math.ceil(CHUNK / size) * size);
  for (let at = from; ; at += chunk.length) {
    const read = readSync(file, chunk, 0, chunk.length, at);
    for (let start = 0; start + size <= read; start += size) yield new DataView(chunk.buffer, start, size);
    if (read < chunk.length) return;
  }
}

type Pair = readonly [number, number];

function pairAt(piece: DataView, at: number): Pair {
  return [piece.getUint32(at), piece.getUint32(at + 4)];
}

function isSame(one: Pair, other: Pair): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** Of its place and its page. */
function sumOfFrame(frame: DataView, before: Pair): Pair {
  const place = sumOf(wordsIn(frame, 0, 8), before);
  return sumOf(wordsIn(frame, FRAME_HEADER, frame.byteLength), place);
}

function wordsIn(piece: DataView, from: number, to: number): Uint32Array {
  return new Uint32Array(piece.buffer, piece.byteOffset + from, (to - from) / 4);
}

/** The log's checksum, going on from the one before. */
function sumOf(words: Uint32Array, before: Pair): Pair {
  let [one, other] = before;
  for (let at = 0; at < words.length; at += 2) {
    one = (one + (words[at] ?? 0) + other) | 0;
    other = (other + (words[at + 1] ?? 0) + one) | 0;
  }
  return [one >>> 0, other >>> 0];
}
