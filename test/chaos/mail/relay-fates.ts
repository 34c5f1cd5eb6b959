/** What becomes of recipients and mails at a relay, by chance. */
import { createDice } from "../dice.ts";

/** Of one connection. */
const CONNECTION = {
  ok: 94,
  /** 421, after which it closes the connection. */
  closing: 3,
  "hang up": 1.5,
  /** It takes the connection, and never says a word. */
  mute: 0.5,
  /** It hangs up at EHLO. */
  "hang up later": 1,
} as const;

/** Of one MAIL FROM. */
const SENDER = {
  ok: 94,
  later: 2,
  closing: 1.5,
  /** For now it takes no mail from this machine, and closes the connection. */
  "not from you": 0.5,
  drop: 1,
  silence: 1,
} as const;

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

/** Of one DATA. */
const START = { ok: 96, later: 2, closing: 1, drop: 1 } as const;

/** Of one mail, once its text comes. */
const MAIL = {
  take: 72,
  "take slowly": 8,
  later: 5,
  /** 421, after which it closes the connection. */
  closing: 2,
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

export const connectionFateOf = (seed: string) => createDice(seed).pick(CONNECTION);
export const senderFateOf = (seed: string) => createDice(seed).pick(SENDER);
export const startFateOf = (seed: string) => createDice(seed).pick(START);
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
