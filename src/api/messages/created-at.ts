import { toIso } from "../../core/timestamp.ts";
import { uuidTime } from "../../core/uuid.ts";

/** Reads a message's `created_at` off its id. A busy millisecond makes many ids, and its text is made once. */
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

/** `017f22e2-79b0` */
const TIME_LENGTH = 13;
