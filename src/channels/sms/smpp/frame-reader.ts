import { HEADER_OCTETS, type Pdu } from "./pdu.ts";

/** Longest PDU taken from a peer: a message_payload of 64 KiB and room for everything beside it. */
export const MAX_PDU_OCTETS = 72 * 1024;

export interface FrameReader {
  /**
   * Takes octets as they come and calls `onPdu` for every PDU they complete. False once a command_length is
   * impossible: there is no telling where the next PDU starts, and everything from then on is ignored.
   */
  push(chunk: Buffer): boolean;
}

/** Cuts a stream of octets into PDUs. It holds at most one unfinished PDU, so at most `maxOctets`. */
export function createFrameReader(onPdu: (pdu: Pdu) => void, maxOctets = MAX_PDU_OCTETS): FrameReader {
  /** The unfinished PDU: first only its command_length, then room for all of it. */
  const lengthField = Buffer.alloc(4);
  let frame = lengthField;
  let filled = 0;
  let isBroken = false;

  /** Takes what the frame still lacks; returns how much that was. */
  const fill = (chunk: Buffer, from: number) => {
    const taken = chunk.copy(frame, filled, from);
    filled += taken;
    return taken;
  };

  const makeRoom = () => {
    const length = frame.readUInt32BE(0);
    if (length < HEADER_OCTETS || length > maxOctets) return false;
    const whole = Buffer.allocUnsafe(length);
    frame.copy(whole);
    frame = whole;
    return true;
  };

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length && !isBroken; ) {
        at += fill(chunk, at);
        if (filled < frame.length) break;
        if (frame === lengthField) {
          isBroken = !makeRoom();
          continue;
        }
        const pdu = toPdu(frame);
        frame = lengthField;
        filled = 0;
        onPdu(pdu);
      }
      return !isBroken;
    },
  };
}

function toPdu(frame: Buffer): Pdu {
  return {
    commandId: frame.readUInt32BE(4),
    status: frame.readUInt32BE(8),
    sequence: frame.readUInt32BE(12),
    body: frame.subarray(HEADER_OCTETS),
  };
}
