/** The steps of a chaos run with emails, which the seed alone decides. */
import { createDice, type Dice } from "../dice.ts";
import { FLEET_WEIGHTS, type OfFleet, type Repeating, sharedStepOf } from "../plan.ts";

export type MailStep = AskingForMail | Repeating | OfFleet | OfRelay;

/** A request to send. */
export interface AskingForMail {
  readonly kind: "send";
  readonly account: number;
  /** How many addresses there are of each kind. */
  readonly to: number;
  readonly cc: number;
  readonly bcc: number;
  /** The first address stands in `cc` too, in capitals. */
  readonly hasDouble: boolean;
  readonly hasKey: boolean;
  readonly hasCallback: boolean;
  readonly scheduleInMs?: number;
  /** Characters of its text. */
  readonly length: number;
}

export type OfRelay =
  | { readonly kind: "drop"; readonly relay: number }
  | { readonly kind: "relay away"; readonly relay: number; readonly ms: number };

export interface MailPlan {
  readonly relays: number;
  /** The relays are the mail hosts of the recipients' domains, and taking a mail delivers it. */
  readonly isDirect: boolean;
  /** Whether bounces come to the service: then each recipient has an envelope of its own. */
  readonly hasReturnPath: boolean;
  readonly beforeMidnightMs: number;
  readonly steps: readonly { readonly step: MailStep; readonly pauseMs: number }[];
}

/** How often each kind of step is planned, relative to the others. */
const WEIGHTS = {
  send: 60,
  "send again": 10,
  cancel: 12,
  "look up": 8,
  ...FLEET_WEIGHTS,
  drop: 2,
  "relay away": 1,
  "lock leases": 0.5,
} as const;

export function mailPlanOf(seed: string, steps: number): MailPlan {
  const dice = createDice(`${seed}/mail`);
  const isDirect = dice.chance(0.4);
  return {
    isDirect,
    relays: isDirect ? 2 : dice.between(1, 2),
    hasReturnPath: dice.chance(0.6),
    beforeMidnightMs: dice.between(5_000, 60_000),
    steps: Array.from({ length: steps }, () => ({
      step: stepOf(dice),
      pauseMs: dice.chance(0.4) ? 0 : dice.between(1, 120),
    })),
  };
}

function stepOf(dice: Dice): MailStep {
  const kind = dice.pick(WEIGHTS);
  const [node, relay] = [dice.between(0, 1), dice.between(0, 1)];
  switch (kind) {
    case "send":
      return askingOf(dice);
    case "leap":
      // Up to the second retry, after five minutes.
      return { kind, ms: dice.between(5_000, 400_000) };
    case "drop":
      return { kind, relay };
    case "relay away":
      return { kind, relay, ms: dice.between(100, 1_500) };
    default:
      return sharedStepOf(kind, node, dice);
  }
}

/** Some are so long that their texts are stored in pieces. */
const LARGE = 400_000;

function askingOf(dice: Dice): AskingForMail {
  const isForMany = dice.chance(0.4);
  const [to, cc, bcc] = [dice.between(1, isForMany ? 4 : 1), isForMany ? dice.between(0, 2) : 0, 0];
  return {
    kind: "send",
    account: dice.between(0, 1),
    to,
    cc,
    bcc: isForMany ? dice.between(0, 2) : bcc,
    hasDouble: dice.chance(0.1),
    hasKey: dice.chance(0.85),
    hasCallback: dice.chance(0.6),
    ...(dice.chance(0.2) && { scheduleInMs: dice.between(500, 120_000) }),
    length: dice.chance(0.03) ? LARGE : dice.between(1, 4_000),
  };
}
