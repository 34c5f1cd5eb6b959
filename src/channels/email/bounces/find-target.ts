import type { PartRef } from "../../../core/messages/outcome.ts";
import { PART_TOKEN } from "../part-token.ts";
import type { ReturnPaths } from "../return-path.ts";

/** Octets searched, and addresses tried: a report quotes one mail of ours at most. */
const MAX_OCTETS = 1024 * 1024;
const MAX_TRIED = 50;

/** The recipient whose return path a report quotes. For reports that come to another address than a return path. */
export function findTarget(raw: Uint8Array, returnPaths: ReturnPaths): PartRef | undefined {
  const text = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, MAX_OCTETS)).toString(
    "latin1",
  );
  let tried = 0;
  for (const [local] of text.matchAll(new RegExp(`\\bb-${PART_TOKEN}(?=@|=40)`, "gi"))) {
    const found = returnPaths.read(`${local}@host`);
    if (found || ++tried >= MAX_TRIED) return found;
  }
  return undefined;
}
