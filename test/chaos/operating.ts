/** What an operator does to accounts and their routes while messages are under way. */
import { admin } from "../admin.ts";
import type { PostriderProcess } from "../postrider-process.ts";
import type { Dice } from "./dice.ts";
import type { Account, HandOver } from "./model.ts";
import { type Asking, askingOf } from "./plan.ts";
import { RESPONSE_TIMEOUT_MS, type SmsWorld } from "./world.ts";

export type Operating = Reordering | Turning | Setting | Replaying;

/** The route of an account prefers the connectors in another order. */
interface Reordering {
  readonly kind: "reorder";
  readonly account: number;
  /** Which of all orders. */
  readonly turn: number;
  /** They share the messages, each by another weight. */
  readonly isShared: boolean;
}

/** A process dies while providers have messages to answer. The route has just got another order, by which they are taken up. */
interface Turning extends Omit<Reordering, "kind"> {
  readonly kind: "reorder and kill";
  readonly node: number;
  /** Until it is started again. */
  readonly ms: number;
}

interface Setting {
  readonly kind: "set";
  readonly account: number;
  readonly name: keyof typeof SETTINGS;
  readonly value: string;
}

/** The webhooks of the last seconds are sent again. */
interface Replaying {
  readonly kind: "replay webhooks";
  readonly account: number;
  readonly seconds: number;
}

/** Settings that messages under way are sent, held or kept by. */
const SETTINGS = {
  sms_transliterate: ["true", "false"],
  on_unconfirmed: ["hold", "resend"],
  keep_bodies: ["true", "false"],
} as const;

const WEIGHTS = { reorder: 10, sms_transliterate: 8, on_unconfirmed: 2, keep_bodies: 1, replay: 2 } as const;

interface PlannedStep<Step> {
  readonly step: Step;
  readonly pauseMs: number;
}

type Planned<Step> = readonly PlannedStep<Step | Operating | Asking>[];

/** The same steps, and such ones between them. */
export function withOperating<Step>(steps: readonly PlannedStep<Step>[], dice: Dice): Planned<Step> {
  return steps.flatMap((step): Planned<Step> => {
    if (!dice.chance(0.12)) return [step];
    return [
      step,
      ...(dice.chance(0.15) ? turnedInMidMessage(dice) : [{ step: operatingOf(dice), pauseMs: 0 }]),
    ];
  });
}

/** How many messages in segments an account sends before its route is turned. */
const LONG_ONES = 4;

/** Until an order that was asked for is the order. */
const ORDERED_MS = 60;

/** Orders, by their turns: what was connected last, as an SMSC is behind the gateways, comes first, or last. */
const LAST_FIRST = -1;
const AS_CONNECTED = 0;

/** Messages in segments are under way when their route is turned and their process dies. Most are of the account that holds such ones. */
function turnedInMidMessage(dice: Dice): readonly PlannedStep<Operating | Asking>[] {
  const account = dice.chance(0.8) ? 1 : 0;
  const ordering = { account, isShared: false } as const;
  const killing = { node: dice.between(0, 1), ms: dice.between(0, 600) };
  return [
    { step: { kind: "reorder", turn: LAST_FIRST, ...ordering }, pauseMs: ORDERED_MS },
    ...Array.from({ length: LONG_ONES }, () => ({ step: longOf(dice, account), pauseMs: 0 })),
    { step: { kind: "reorder and kill", turn: AS_CONNECTED, ...ordering, ...killing }, pauseMs: 0 },
  ];
}

function longOf(dice: Dice, account: number): Asking {
  const { scheduleInMs: _, ...asking } = askingOf(dice);
  return { ...asking, account, length: dice.between(161, 450) };
}

function operatingOf(dice: Dice): Operating {
  const what = dice.pick(WEIGHTS);
  const account = dice.between(0, 1);
  switch (what) {
    case "reorder":
      return { kind: what, account, turn: dice.between(0, 5), isShared: dice.chance(0.2) };
    case "replay":
      return { kind: "replay webhooks", account, seconds: dice.between(1, 20) };
    default:
      return { kind: "set", account, name: what, value: dice.oneOf<string>(SETTINGS[what]) };
  }
}

type Operated = Pick<SmsWorld, "fleet" | "accounts" | "handOvers">;

/** Never rejects because a process does not answer. */
export async function operate(world: Operated, step: Operating): Promise<void> {
  const { fleet, accounts } = world;
  const account = accounts[step.account % accounts.length];
  if (!account) return;
  if (step.kind === "reorder and kill") await untilUnderWay(world, UNDER_WAY);
  const service = fleet.some(() => 0);
  fleet.note(`${account.name}: ${JSON.stringify(step)}`);
  if (service) await carryOut(service, { account, now: fleet.now }, step).catch(() => {});
  if (step.kind === "reorder and kill")
    await fleet.nodes[step.node % fleet.nodes.length]?.kill("SIGKILL", step.ms);
}

/** So many are to wait for an answer, and they may take so long to come to that. */
const UNDER_WAY = { count: 2, withinMs: 500 };

/** Waits until providers have so much to answer, of all processes, but no longer than that. */
export async function untilUnderWay(
  { handOvers }: Pick<SmsWorld, "handOvers">,
  { count, withinMs }: { readonly count: number; readonly withinMs: number },
): Promise<void> {
  const isWaiting = ({ answeredAtMs, atMs }: HandOver) =>
    answeredAtMs === undefined && atMs > Date.now() - RESPONSE_TIMEOUT_MS / 2;
  const endsMs = Date.now() + withinMs;
  while (handOvers().filter(isWaiting).length < count && Date.now() < endsMs) await Bun.sleep(1);
}

async function carryOut(
  service: PostriderProcess,
  { account, now }: { readonly account: Account; readonly now: () => number },
  step: Operating,
): Promise<void> {
  const account_id = account.accountId;
  switch (step.kind) {
    case "reorder":
    case "reorder and kill":
      return reorder(service, account, step);
    case "replay webhooks": {
      const since = new Date(now() - step.seconds * 1_000).toISOString();
      await admin(service, "/webhooks/replay", { account_id, since });
      return;
    }
    default: {
      const { name, value } = step;
      const put = () => admin(service, `/settings/${name}?account_id=${account_id}`, { value }, "PUT");
      if (name === "on_unconfirmed") await account.holding.change(value === "hold", put);
      else await put();
    }
  }
}

interface ShownRoute {
  readonly route_id: string;
  readonly connectors: readonly { readonly connector_id: string }[];
}

async function reorder(
  service: PostriderProcess,
  { accountId }: Account,
  { turn, isShared }: Pick<Reordering, "turn" | "isShared">,
): Promise<void> {
  const { data } = await admin<{ data: readonly ShownRoute[] }>(service, `/routes?account_id=${accountId}`);
  for (const { route_id, connectors } of data) {
    const ids = inOrder(connectors.map(({ connector_id }) => connector_id).toSorted(), turn);
    const shared = ids.map((connector_id, place) => ({ connector_id, weight: ids.length - place }));
    const change = isShared ? { connectors: shared } : { connector_ids: ids };
    await admin(service, `/routes/${route_id}`, change, "PATCH");
  }
}

/** One of the orders of up to three: begun at any place, counted from the end if `turn` is negative, forwards or backwards. */
function inOrder(ids: readonly string[], turn: number): readonly string[] {
  const first = turn % ids.length;
  const begun = [...ids.slice(first), ...ids.slice(0, first)];
  return Math.trunc(turn / ids.length) % 2 === 0 ? begun : begun.toReversed();
}
