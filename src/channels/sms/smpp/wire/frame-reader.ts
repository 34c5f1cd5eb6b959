import { HEADER_OCTETS, type Pdu } from "./pdu.ts";

/** The longest PDU that is accepted: a message_payload of 64 KiB, and everything else in the PDU. */
export const MAX_PDU_OCTETS = 72 * 1024;

export interface FrameReader {
  /**
   * Takes octets as they come, and calls `onPdu` for every PDU that they complete. Returns false once a command_length is
   * impossible: then nobody can tell where the next PDU starts, and all further octets are ignored.
   */
  push(chunk: Buffer): boolean;
}

/**
 * Cuts a stream of octets into PDUs. A PDU that is complete in one chunk is read without a copy. Otherwise its octets are
 * collected, at most `MAX_PDU_OCTETS` of them.
 */
export function createFrameReader(onPdu: (pdu: Pdu) => void): FrameReader {
  const unfinished = createUnfinished();
  let isBroken = false;

  /** Reads the PDUs that are complete in the chunk, from `start` on, and returns where the rest begins. */
  const readWhole = (chunk: Buffer, start: number): number => {
    let at = start;
    while (chunk.length - at >= LENGTH_OCTETS) {
      const length = chunk.readUInt32BE(at);
      isBroken = !isPossible(length);
      if (isBroken || length > chunk.length - at) break;
      onPdu(toPdu(chunk, at, length));
      at += length;
    }
    return at;
  };

  return {
    push(chunk) {
      if (isBroken) return false;
      let at = 0;
      while (unfinished.isBegun() && at < chunk.length) {
        at += unfinished.fill(chunk, at);
        isBroken = unfinished.isBroken();
        if (isBroken) return false;
        const frame = unfinished.takeWhole();
        if (frame) onPdu(toPdu(frame, 0, frame.length));
      }
      at = readWhole(chunk, at);
      while (!isBroken && at < chunk.length) at += unfinished.fill(chunk, at);
      return !isBroken;
    },
  };
}

const LENGTH_OCTETS = 4;

function isPossible(length: number): boolean {
  return length >= HEADER_OCTETS && length <= MAX_PDU_OCTETS;
}

/** A PDU that has only come in part. It is collected first in a buffer for its command_length, then in one for the whole PDU. */
function createUnfinished() {
  const lengthField = Buffer.alloc(LENGTH_OCTETS);
  let frame = lengthField;
  let filled = 0;
  let isBroken = false;

  const makeRoom = () => {
    const length = frame.readUInt32BE(0);
    isBroken = !isPossible(length);
    if (isBroken) return;
    const whole = Buffer.allocUnsafe(length);
    frame.copy(whole);
    frame = whole;
  };
  return {
    isBegun: () => filled > 0,
    isBroken: () => isBroken,
    /** Takes from the chunk what the frame still lacks, and returns how many octets that was. */
    fill(chunk: Buffer, from: number): number {
      const taken = chunk.copy(frame, filled, from);
      filled += taken;
      if (filled === frame.length && frame === lengthField) makeRoom();
      return taken;
    },
    takeWhole(): Buffer | undefined {
      if (filled < frame.length) return undefined;
      const whole = frame;
      frame = lengthField;
      filled = 0;
      return whole;
    },
  };
}

function toPdu(octets: Buffer, at: number, length: number): Pdu {
  return {
    commandId: octets.readUInt32BE(at + 4),
    status: octets.readUInt32BE(at + 8),
    sequence: octets.readUInt32BE(at + 12),
    body: octets.subarray(at + HEADER_OCTETS, at + length),
  };
}
