/** Carries out the steps of a plan. */
import * as client from "./client.ts";
import { changeConnector } from "./connector-changes.ts";
import type { Fleet } from "./fleet.ts";
import type { Account, Asked, Request } from "./model.ts";
import { type Operating, operate, untilUnderWay } from "./operating.ts";
import type { Asking, Disturbing, OfFleet, Repeating, Step } from "./plan.ts";
import type { AnyWorld, SmsWorld, World } from "./world.ts";

/** Resolves when the step is done. Never rejects because a process does not answer. */
export async function take(world: World, step: Step): Promise<void> {
  switch (step.kind) {
    case "send":
      return send(world, newRequest(world, step));
    case "send again":
    case "cancel":
    case "look up":
      return repeat(world, step);
    case "reorder":
    case "reorder and kill":
    case "set":
    case "replay webhooks":
      return operate(world, step);
    default:
      return disturb(world, step);
  }
}

export async function send<Asking extends Request>(world: AnyWorld<Asking>, asked: Asking): Promise<void> {
  const service = anyService(world);
  if (service) await client.send(world.model, service, asked);
}

function anyService<Asking extends Request>({ fleet, model }: AnyWorld<Asking>) {
  // The processes take turns.
  return fleet.some((count) => model.asked.length % count);
}

/** Each request has numbers of its own: these ten, of which it uses the first. */
const FIRST_NUMBER = 447_700_100_000;
export const NUMBERS_EACH = 10;

const WORDS = { plain: "Lorem ipsum ", withMarks: "“Lorem” ipsum… " } as const;

/** A text as an account with `sms_transliterate` has it written. */
export function plainOf(text: string): string {
  return text.replaceAll(/[“”]/g, '"').replaceAll("…", "...");
}

export function newRequest({ model, accounts, seed, fleet }: SmsWorld, asking: Asking): Asked {
  const index = model.asked.length;
  const account = accounts[asking.account] as Account;
  const numbers = asking.repeats.flatMap((times, place) =>
    Array<string>(times).fill(`+${FIRST_NUMBER + index * NUMBERS_EACH + place}`),
  );
  const { expireAfterSeconds, scheduleInMs } = asking;
  const words = WORDS[asking.hasMarks ? "withMarks" : "plain"].repeat(40);
  const text = `Request ${index}. ${words}`.slice(0, asking.length);
  const asked: Asked = {
    index,
    account,
    askedAt: fleet.now(),
    text,
    numbers,
    isBatch: asking.isBatch,
    key: asking.hasKey ? `${seed}-${index}` : undefined,
    windowMs: expireAfterSeconds === undefined ? undefined : expireAfterSeconds * 1_000,
    body: {
      to: asking.isBatch ? numbers : numbers[0],
      template_id: account.templateId,
      variables: { 1: text },
      metadata: { request: index },
      ...(asking.hasCallback && { callback_url: account.callbackUrl }),
      ...(scheduleInMs && { schedule_at: new Date(fleet.now() + scheduleInMs).toISOString() }),
      ...(expireAfterSeconds && { expire_after_seconds: expireAfterSeconds }),
    },
    unanswered: 0,
    tries: 0,
    isRefused: false,
    answer: undefined,
  };
  model.asked.push(asked);
  return asked;
}

export async function repeat<Asking extends Request>(
  world: AnyWorld<Asking>,
  { kind, back }: Repeating,
): Promise<void> {
  const { model } = world;
  const asked = model.asked.at(-back);
  const service = anyService(world);
  if (!asked || !service) return;
  if (kind === "send again") {
    if (asked.key !== undefined) await send(world, asked);
    return;
  }
  const message = asked.answer?.at(back % asked.answer.length);
  if (!message) return;
  const about = { account: asked.account, message_id: message.message_id };
  if (kind === "cancel") await client.cancel(model, service, about);
  else await client.lookUp(model, service, about);
}

const CUTS = { "cut database": "all", "lose commit": "COMMIT", "lose answer": "answer to COMMIT" } as const;

async function disturb(world: World, step: Exclude<Disturbing, Operating>): Promise<void> {
  const { fleet, smscs, connectors } = world;
  if (step.kind === "change settings" || step.kind === "disable")
    return changeConnector({ fleet, connectors }, step);
  if (step.kind === "stand still") return standStill(world, step);
  if ("smsc" in step) return disturbSmsc({ fleet, smscs }, step);
  return disturbFleet(fleet, step);
}

/** How many submits are to wait for an answer, and for how long they may take to come to that. */
const WAITING = { count: 4, withinMs: 4_000 };

async function standStill(
  world: Pick<World, "fleet" | "handOvers">,
  { node, ms }: Extract<Disturbing, { kind: "stand still" }>,
): Promise<void> {
  await untilUnderWay(world, WAITING);
  await world.fleet.nodes[node % world.fleet.nodes.length]?.holdUp(ms);
}

export async function disturbFleet(fleet: Fleet, step: OfFleet): Promise<void> {
  if (!("node" in step)) return step.kind === "leap" ? fleet.leap(step.ms) : fleet.lockLeases(step.ms);
  const node = fleet.nodes[step.node % fleet.nodes.length];
  switch (step.kind) {
    case "kill":
      return node?.kill("SIGKILL", step.ms);
    case "stop":
      return node?.kill("SIGTERM", step.ms);
    case "hold up":
      return node?.holdUp(step.ms);
    default:
      return node?.cutDatabase(CUTS[step.kind], step.ms);
  }
}

function disturbSmsc(
  { fleet, smscs }: Pick<World, "fleet" | "smscs">,
  step: Extract<Disturbing, { smsc: number }>,
): void {
  const smsc = smscs[step.smsc % smscs.length];
  fleet.note(`${step.kind} at the ${smsc?.name} SMSC`);
  if (step.kind === "smsc away") smsc?.goAway(step.ms);
  if (step.kind === "drop") smsc?.dropAll();
  if (step.kind === "unbind") smsc?.unbindOne();
  if (step.kind === "invent receipt") smsc?.inventReceipt();
}
