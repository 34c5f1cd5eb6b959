import { createHash } from "node:crypto";
import { firstUuidAt } from "../../core/uuid.ts";

const TIME_LENGTH = "017f22e2-79b0".length;

/** A UUIDv7 of the given millisecond, whose other 74 bits are derived from `name`: for ids where no random source is at hand. */
export function hashedUuid(ms: number, name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  const variant = (0x8 | (Number.parseInt(hex.slice(0, 1), 16) & 3)).toString(16);
  const time = firstUuidAt(ms).slice(0, TIME_LENGTH);
  return `${time}-7${hex.slice(1, 4)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`;
}
