import type { SmsContent } from "../messages/message.ts";

/** The sender of an SMS: the one that was found when it was accepted, or else the one that its request names. */
export function sentFrom({ resolved, from }: Pick<SmsContent, "resolved" | "from">): string | undefined {
  return resolved?.from ?? from;
}
