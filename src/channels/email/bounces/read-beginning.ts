import type { Readable } from "node:stream";

/** Kept at first; twice as much as often as it takes. */
const FIRST_OCTETS = 16 * 1024;

/**
 * Reads the whole stream, and keeps its first `maxOctets`. They are copied: a peer decides how small the pieces are (each line
 * that begins with a dot is one), and a piece of three octets that is kept costs fifty times as much.
 */
export async function readBeginning(stream: Readable, maxOctets: number): Promise<Buffer> {
  let kept: Buffer = Buffer.alloc(Math.min(FIRST_OCTETS, maxOctets));
  let length = 0;
  for await (const chunk of stream) {
    const piece = (chunk as Buffer).subarray(0, maxOctets - length);
    while (length + piece.length > kept.length) kept = doubled(kept, maxOctets);
    length += piece.copy(kept, length);
  }
  return kept.subarray(0, length);
}

function doubled(kept: Buffer, maxOctets: number): Buffer {
  const larger = Buffer.alloc(Math.min(2 * kept.length, maxOctets));
  kept.copy(larger);
  return larger;
}
