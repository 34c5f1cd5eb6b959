import { toIso } from "../core/timestamp.ts";
import { uuidTime } from "../core/uuid.ts";

/** A message's `created_at`: its id carries the time. */
export function createdAtOf(id: string): string {
  return toIso(uuidTime(id) ?? 0);
}
