/** What becomes of a request at an HTTP gateway, by chance. */
import { createDice } from "../dice.ts";
import type { HandOver } from "../model.ts";
import { NUMBERS_EACH } from "../steps.ts";

/** How a gateway names messages: by our id, by one of its own, or by one for each segment. */
export type Naming = "ours" | "one" | "each";

const WEIGHTS = {
  /** Taken, and answered in a way that is whole. */
  take: 50,
  "take slowly": 10,
  "take in pieces": 4,
  "take and close": 3,
  "take without a length": 3,
  /** Behind the answer comes another that nobody asked for, or octets that are none. */
  "take and answer twice": 2,
  "take and say more": 2,
  /** Taken, and answered in a way that shows the status alone. */
  "take and cut": 3,
  "take endlessly": 1,
  "take hugely": 2,
  "take with nonsense": 2,
  /** Taken, and not answered, or in a way that may mean anything. */
  "take silently": 2.5,
  "take and drop": 3,
  "take with half a head": 1.5,
  "take as a bad gateway": 2,
  /** Not taken, and not answered. */
  lose: 2,
  "lose and drop": 2,
  "lose with gibberish": 1,
  /** Not taken, and answered with an error. */
  "be busy": 3,
  "say that it is busy": 2,
  throttle: 2,
  "be full": 1.5,
  bar: 1,
  redirect: 1,
  refuse: 3,
  "refuse and cut": 1,
} as const;

export type GatewayFate = keyof typeof WEIGHTS;

/** Those that a short run would hardly see. */
const RARE: readonly GatewayFate[] = [
  ...(["take as a bad gateway", "take and cut", "refuse and cut", "take endlessly"] as const),
  ...(["take as a bad gateway", "take and cut", "refuse and cut", "take with nonsense"] as const),
];

/** One request in so many has one of those in their turn. */
const EACH_RARE = 2;

/** What becomes of a request to a number, by the seed: `time` counts from 1, those to the same number. */
export function gatewayFateOf(
  seed: string,
  { to, time }: { readonly to: string; readonly time: number },
): GatewayFate {
  const turn = Number(to) / NUMBERS_EACH / EACH_RARE;
  if (time > 1 || !Number.isInteger(turn)) return createDice(`${seed}/${to}/${time}`).pick(WEIGHTS);
  const first = createDice(`${seed}/rare`).between(0, RARE.length - 1);
  return RARE[(turn + first) % RARE.length] ?? "take";
}

export function isTakenBy(fate: GatewayFate): boolean {
  return fate.startsWith("take");
}

const WHOLE: ReadonlySet<GatewayFate> = new Set<GatewayFate>([
  ...(["take", "take slowly", "take in pieces", "take and close"] as const),
  ...(["take without a length", "take and answer twice", "take and say more"] as const),
]);

const STATUS_ALONE: ReadonlySet<GatewayFate> = new Set<GatewayFate>([
  ...(["take and cut", "take endlessly", "take hugely", "take with nonsense"] as const),
]);

const NOT_NOW: ReadonlySet<GatewayFate> = new Set<GatewayFate>([
  ...(["be busy", "say that it is busy", "throttle", "be full", "bar", "redirect"] as const),
]);

/** A status says that a message is taken only where no id is expected beside it. */
export function gatewaySays(fate: GatewayFate, naming: Naming): HandOver["says"] {
  if (WHOLE.has(fate) || (STATUS_ALONE.has(fate) && naming === "ours")) return "taken";
  if (NOT_NOW.has(fate)) return "not now";
  return fate === "refuse" || fate === "refuse and cut" ? "never" : "nothing";
}

/** What becomes of a connection before a request is read: it is closed at once, or in the middle of a request. */
export function connectionFateOf(connection: string): "serve" | "refuse" | "cut" {
  return createDice(connection).pick({ serve: 96, refuse: 2, cut: 2 });
}
