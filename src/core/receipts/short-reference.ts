/**
 * References of 16 bits. They are made from a message's id, so that every attempt by every process uses the same one. Two messages
 * may have the same reference, so it proves nothing by itself.
 */

/** The reference by which a handset joins the segments of a message. */
export function concatReference(messageId: string): number {
  return fnv1a16(messageId);
}

/** The reference of one part, for a provider that repeats it in receipts (`Receipt.reference`). */
export function partReference(messageId: string, part: number): number {
  return fnv1a16(`${messageId}/${part}`);
}

/** FNV-1a, 32 bits folded into 16. */
function fnv1a16(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 16)) & 0xffff;
}
