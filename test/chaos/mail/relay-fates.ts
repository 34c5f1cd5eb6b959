/** What becomes of recipients and mails at a relay, by chance. */
import { createDice } from "../dice.ts";

/** Of one RCPT TO. */
const RECIPIENT = {
  ok: 86,
  later: 5,
  never: 5,
  /** 421, after which it closes the connection. */
  closing: 1.5,
  drop: 1.5,
  silence: 1,
} as const;

/** Of one mail, once its recipients are accepted. */
const MAIL = {
  take: 72,
  "take slowly": 8,
  later: 5,
  /** It refuses the message, whoever it is for. */
  never: 3,
  "take and drop": 4,
  "take silently": 2,
  /** It has all of it, and nothing comes of it. */
  "lose and drop": 3,
  /** It closes the connection in the middle. */
  "cut off": 3,
} as const;

export type RecipientFate = keyof typeof RECIPIENT;
export type MailFate = keyof typeof MAIL;

export const recipientFateOf = (seed: string): RecipientFate => createDice(seed).pick(RECIPIENT);
export const mailFateOf = (seed: string): MailFate => createDice(seed).pick(MAIL);

export const TAKEN: ReadonlySet<MailFate> = new Set([
  "take",
  "take slowly",
  "take and drop",
  "take silently",
]);

/** What it says of a mail that it took, by DSN; `undefined`: nothing. */
export function reportOf(seed: string): "delivered" | "failed" | undefined {
  const what = createDice(seed).pick({ nothing: 3, delivered: 5, failed: 2 });
  return what === "nothing" ? undefined : what;
}
