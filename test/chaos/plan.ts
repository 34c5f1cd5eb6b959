/** The steps of a chaos run, which the seed alone decides. */
import { type ChangingConnector, SMPP_CHANGES, withChanges } from "./connector-changes.ts";
import { createDice, type Dice } from "./dice.ts";
import { type Operating, withOperating } from "./operating.ts";

export type Step = Asking | Repeating | Disturbing;

/** A request to send. */
export interface Asking {
  readonly kind: "send";
  readonly account: number;
  /** One entry per number: how often the number stands in the request. */
  readonly repeats: readonly number[];
  readonly isBatch: boolean;
  readonly hasKey: boolean;
  readonly hasCallback: boolean;
  /** Characters of its text. */
  readonly length: number;
  /** It has typographic marks, which `sms_transliterate` replaces. */
  readonly hasMarks: boolean;
  readonly scheduleInMs?: number;
  readonly expireAfterSeconds?: number;
}

/** About an earlier request, counted back from the last one. */
export interface Repeating {
  readonly kind: "send again" | "cancel" | "look up";
  readonly back: number;
}

export type Disturbing =
  | OfFleet
  | ChangingConnector
  | Operating
  | { readonly kind: "drop" | "unbind" | "invent receipt"; readonly smsc: number }
  | { readonly kind: "smsc away"; readonly smsc: number; readonly ms: number }
  /** A process is stopped while it has messages in hand. */
  | { readonly kind: "stand still"; readonly node: number; readonly ms: number };

/** What happens to the processes and their database. */
export type OfFleet =
  | { readonly kind: "kill" | "stop" | "hold up"; readonly node: number; readonly ms: number }
  | {
      readonly kind: "cut database" | "lose commit" | "lose answer";
      readonly node: number;
      readonly ms: number;
    }
  | { readonly kind: "leap" | "lock leases"; readonly ms: number };

export interface PlannedStep {
  readonly step: Step;
  /** Milliseconds until the next one. */
  readonly pauseMs: number;
}

export interface Plan {
  readonly smscs: number;
  /** How long before midnight (UTC) the clocks of the processes begin: a new day comes while all this happens. */
  readonly beforeMidnightMs: number;
  readonly steps: readonly PlannedStep[];
}

/** How often each kind of step is planned, relative to the others. */
const WEIGHTS = {
  send: 60,
  "send again": 10,
  cancel: 14,
  "look up": 8,
  kill: 2,
  stop: 0.7,
  "hold up": 1,
  "cut database": 0.8,
  "lose commit": 1,
  "lose answer": 1,
  leap: 3,
  drop: 1.2,
  unbind: 1,
  "invent receipt": 1,
  "smsc away": 0.8,
  "lock leases": 0.5,
} as const;

export function planOf(seed: string, steps: number): Plan {
  const dice = createDice(`${seed}/plan`);
  return {
    smscs: dice.between(1, 2),
    beforeMidnightMs: createDice(`${seed}/day`).between(5_000, 60_000),
    steps: withOperating(
      withChanges(
        Array.from({ length: steps }, () => ({
          step: stepOf(dice),
          pauseMs: dice.chance(0.5) ? 0 : dice.between(1, 90),
        })),
        SMPP_CHANGES,
        createDice(`${seed}/changes`),
      ),
      createDice(`${seed}/operating`),
    ),
  };
}

/** Longer than it takes the other process to see for 12 s that there is no heartbeat: then it takes the first one for dead. */
const STANDSTILL_MS = [16_000, 18_000] as const;

/** How many requests come just then. */
const BURST = 24;

/**
 * The same steps, but early on a process is stopped, with many messages in hand, for so long that the other takes them over. The steps
 * after that are spread over the time until it goes on, and a while longer. Meanwhile nothing happens to the other one: it has to see
 * for 12 s that the first has no heartbeat.
 */
export function withStandstill(seed: string, { steps, ...plan }: Plan): Plan {
  const dice = createDice(`${seed}/standstill`);
  const ms = dice.between(...STANDSTILL_MS);
  const before = Math.floor(steps.length * (dice.between(20, 40) / 100));
  const spreadMs = ms / (steps.length - before);
  const rest = steps
    .slice(before)
    .filter(({ step }) => !("node" in step) && step.kind !== "lock leases")
    .map(({ step, pauseMs }) => ({ step, pauseMs: pauseMs + spreadMs }));
  const burst = Array.from({ length: BURST }, () => ({ step: askingOf(dice), pauseMs: 0 }));
  const stand = { step: { kind: "stand still", node: dice.between(0, 1), ms }, pauseMs: 0 } as const;
  return { ...plan, steps: [...steps.slice(0, before), stand, ...burst, ...rest] };
}

function stepOf(dice: Dice): Step {
  const kind = dice.pick(WEIGHTS);
  const node = dice.between(0, 1);
  const smsc = dice.between(0, 1);
  switch (kind) {
    case "send":
      return askingOf(dice);
    case "leap":
      return { kind, ms: dice.chance(0.1) ? dice.between(30_000, 90_000) : dice.between(1_000, 12_000) };
    case "drop":
    case "unbind":
    case "invent receipt":
      return { kind, smsc };
    case "smsc away":
      return { kind, smsc, ms: dice.between(100, 1_500) };
    default:
      return sharedStepOf(kind, node, dice);
  }
}

/** How often what happens to the processes is planned, relative to other steps, where connectors are few. */
export const FLEET_WEIGHTS = {
  kill: 2.5,
  stop: 1,
  "hold up": 1,
  "cut database": 0.8,
  "lose commit": 1,
  "lose answer": 1,
  leap: 4,
} as const;

/** A step that any run may have. */
export function sharedStepOf(
  kind: Exclude<Repeating["kind"] | OfFleet["kind"], "leap">,
  node: number,
  dice: Dice,
): Repeating | OfFleet {
  switch (kind) {
    case "send again":
    case "cancel":
    case "look up":
      return { kind, back: dice.chance(0.5) ? dice.between(1, 4) : dice.between(1, 60) };
    case "hold up":
      return { kind, node, ms: dice.between(100, 1_800) };
    case "lock leases":
      // Up to longer than leases are valid, which is 7 s.
      return { kind, ms: dice.between(500, 9_500) };
    default:
      return { kind, node, ms: dice.between(0, 600) };
  }
}

export function askingOf(dice: Dice): Asking {
  const isBatch = dice.chance(0.2);
  const count = isBatch ? dice.between(1, 6) : 1;
  return {
    kind: "send",
    account: dice.between(0, 1),
    repeats: Array.from({ length: count }, () => (isBatch && dice.chance(0.2) ? 2 : 1)),
    isBatch,
    hasKey: dice.chance(0.85),
    hasCallback: dice.chance(0.6),
    length: dice.chance(0.25) ? dice.between(161, 450) : dice.between(10, 160),
    hasMarks: dice.chance(0.3),
    ...(dice.chance(0.2) && { scheduleInMs: dice.between(2_000, 60_000) }),
    ...(dice.chance(0.25) && { expireAfterSeconds: dice.between(5, 60) }),
  };
}
