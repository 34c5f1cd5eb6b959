/** What an SMSC does with a submit_sm, and which receipts it sends: the seed and the submit decide. */
import { createDice, type Dice } from "./dice.ts";
import type { HandOver, PaidReceipt } from "./model.ts";

export type Fate =
  /** Taken, and answered: at once, within the time for it, or after that. */
  | "take"
  | "take slowly"
  | "take late"
  /** Taken, and not answered: it stays silent, or closes the connection. */
  | "take silently"
  | "take and drop"
  /** Taken and answered; then it closes the connection, or unbinds. */
  | "answer and drop"
  | "answer and unbind"
  /** Neither taken nor answered. */
  | "lose"
  | "lose and drop"
  /** Not taken, and answered with an error. */
  | "throttle"
  | "be full"
  | "fail for now"
  | "refuse";

const WEIGHTS: Readonly<Record<Fate, number>> = {
  take: 60,
  "take slowly": 12,
  "take late": 4,
  "take silently": 3,
  "take and drop": 2,
  "answer and drop": 2,
  "answer and unbind": 1,
  lose: 2,
  "lose and drop": 1.5,
  throttle: 2,
  "be full": 2,
  "fail for now": 5,
  refuse: 3,
};

/** The command_status of the answers that are errors. */
export const STATUS_OF: Readonly<Partial<Record<Fate, number>>> = {
  throttle: 0x58,
  "be full": 0x14,
  "fail for now": 0x64,
  refuse: 0x0b,
};

const TAKEN: ReadonlySet<Fate> = new Set<Fate>([
  "take",
  "take slowly",
  "take late",
  "take silently",
  "take and drop",
  "answer and drop",
  "answer and unbind",
]);

export function isTaken(fate: Fate): boolean {
  return TAKEN.has(fate);
}

/** What the answer says. */
export function saysOf(fate: Fate): HandOver["says"] {
  if (STATUS_OF[fate] !== undefined) return fate === "refuse" ? "never" : "not now";
  return fate === "take" || fate === "take slowly" ? "taken" : "nothing";
}

export function fateOf(submit: string): Fate {
  return createDice(submit).pick(WEIGHTS);
}

export interface PlannedReceipt {
  readonly state: "DELIVRD" | "UNDELIV" | "EXPIRED" | "REJECTD" | "ENROUTE";
  /** Milliseconds after the answer; negative: before it. */
  readonly afterMs: number;
}

/** What each state means for the message. */
export const WORD_OF: Readonly<Record<PlannedReceipt["state"], PaidReceipt["says"]>> = {
  DELIVRD: "delivered",
  UNDELIV: "undelivered",
  EXPIRED: "expired",
  REJECTD: "failed",
  ENROUTE: "sent",
};

export interface ReceiptPlan {
  readonly receipts: readonly PlannedReceipt[];
  /** Receipts carry the user_message_reference of the submit. */
  readonly repeatsReference: boolean;
}

export function receiptsOf(submit: string): ReceiptPlan {
  const dice = createDice(`${submit}/receipts`);
  const state = dice.pick({ DELIVRD: 80, UNDELIV: 12, EXPIRED: 4, REJECTD: 4 });
  const afterMs = timeOf(dice);
  const receipts: PlannedReceipt[] = dice.chance(0.08) ? [] : [{ state, afterMs }];
  if (receipts.length > 0 && dice.chance(0.15))
    receipts.push({ state, afterMs: afterMs + dice.between(0, 500) });
  if (dice.chance(0.04)) receipts.push({ state: "UNDELIV", afterMs: dice.between(0, 800) });
  if (dice.chance(0.1)) receipts.push({ state: "ENROUTE", afterMs: dice.between(0, 800) });
  return { receipts, repeatsReference: dice.chance(0.6) };
}

function timeOf(dice: Dice): number {
  const when = dice.pick({ before: 15, behind: 45, later: 40 });
  if (when === "before") return -1;
  return when === "behind" ? 0 : dice.between(20, 1_500);
}
