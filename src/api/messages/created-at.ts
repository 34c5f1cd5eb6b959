import { toIso } from "../../core/time/timestamp.ts";
import { uuidTime } from "../../core/uuid.ts";

/** Makes a function that reads a message's `created_at` (ISO 8601) from its id. Keeps the last text: many ids share a millisecond. */
export function createCreatedAt(): (id: string) => string {
  let time = "";
  let iso = "";
  return (id) => {
    if (time === "" || !id.startsWith(time)) {
      time = id.slice(0, TIME_LENGTH);
      iso = toIso(uuidTime(id) ?? 0);
    }
    return iso;
  };
}

/** Characters of a UUIDv7 that hold its time: `017f22e2-79b0`. */
const TIME_LENGTH = 13;
