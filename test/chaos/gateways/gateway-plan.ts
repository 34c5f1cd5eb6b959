/** The steps of a chaos run with HTTP gateways, which the seed alone decides. */
import { type ChangingConnector, GATEWAY_CHANGES, withChanges } from "../connector-changes.ts";
import { createDice, type Dice } from "../dice.ts";
import { type Operating, withOperating } from "../operating.ts";
import { type Asking, askingOf, FLEET_WEIGHTS, type OfFleet, type Repeating, sharedStepOf } from "../plan.ts";
import type { Naming } from "./gateway-fates.ts";

export type GatewayStep = Asking | Repeating | OfFleet | OfGateway | Writing | ChangingConnector | Operating;

/** A handset writes to the account's number, in so many parts. */
export interface Writing {
  readonly kind: "write";
  readonly gateway: number;
  readonly account: number;
  readonly pieces: number;
}

export type OfGateway =
  | { readonly kind: "drop" | "invent report" | "forge report"; readonly gateway: number }
  | { readonly kind: "restart gateway"; readonly gateway: number; readonly ms: number };

export interface GatewayPlan {
  /** One for each gateway. */
  readonly namings: readonly Naming[];
  /** They are one account at the provider, which reports at the callback URL of either. */
  readonly isOneAccount: boolean;
  /** How many requests each takes at once. */
  readonly maxInFlight: number;
  /** Where an SMSC stands among the connectors of the route to begin with; absent: there is none. */
  readonly smsc?: "first" | "last";
  /** Of the route. */
  readonly failover: "safe" | "always";
  /** The gateways share the messages, to begin with. */
  readonly isShared: boolean;
  readonly beforeMidnightMs: number;
  readonly steps: readonly { readonly step: GatewayStep; readonly pauseMs: number }[];
}

/** How often each kind of step is planned, relative to the others. */
const WEIGHTS = {
  send: 60,
  "send again": 8,
  cancel: 10,
  "look up": 6,
  ...FLEET_WEIGHTS,
  drop: 1.5,
  "restart gateway": 1.5,
  "invent report": 1,
  "forge report": 1,
  "lock leases": 0.5,
  write: 12,
} as const;

export function gatewayPlanOf(seed: string, steps: number): GatewayPlan {
  const dice = createDice(`${seed}/gateways`);
  const naming = () => dice.pick<Naming>({ ours: 4, one: 3, each: 3 });
  const smsc = dice.pick({ none: 4, first: 3, last: 3 });
  const isOneAccount = dice.chance(0.3);
  const first = naming();
  const isPair = isOneAccount || dice.chance(0.6);
  return {
    namings: isPair ? [first, isOneAccount ? first : naming()] : [first],
    isOneAccount,
    maxInFlight: dice.between(2, 20),
    ...(smsc !== "none" && { smsc }),
    failover: dice.chance(0.7) ? "safe" : "always",
    isShared: dice.chance(0.3),
    beforeMidnightMs: dice.between(5_000, 60_000),
    steps: withOperating(
      withChanges(
        Array.from({ length: steps }, () => ({
          step: stepOf(dice),
          pauseMs: dice.chance(0.4) ? 0 : dice.between(1, 100),
        })),
        GATEWAY_CHANGES,
        createDice(`${seed}/changes`),
      ),
      createDice(`${seed}/operating`),
    ),
  };
}

function stepOf(dice: Dice): GatewayStep {
  const kind = dice.pick(WEIGHTS);
  const [node, gateway] = [dice.between(0, 1), dice.between(0, 1)];
  switch (kind) {
    case "send":
      return askingOf(dice);
    case "leap":
      return { kind, ms: dice.between(1_000, 20_000) };
    case "drop":
    case "invent report":
    case "forge report":
      return { kind, gateway };
    case "write":
      return {
        kind,
        gateway,
        account: dice.between(0, 1),
        pieces: dice.chance(0.4) ? dice.between(2, 3) : 1,
      };
    case "restart gateway":
      return { kind, gateway, ms: dice.chance(0.3) ? 0 : dice.between(1, 1_500) };
    default:
      return sharedStepOf(kind, node, dice);
  }
}
