/**
 * Days of service in seconds: traffic, faults, and a clock that leaps from one part of the day to the next, over every
 * border there is: midnight, the day after which a key is new, the seven days after which a message is not found.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/time/durations.ts";
import { until } from "../until.ts";
import { listAll, lookUp, lookUpInVain } from "./client.ts";
import { createDice, type Dice } from "./dice.ts";
import { followFeeds } from "./feed-readers.ts";
import type { Fleet, Store } from "./fleet.ts";
import { findProblems } from "./judgement.ts";
import { type Account, FINAL, type Model, type Shown } from "./model.ts";
import { type Asking, askingOf, type Step } from "./plan.ts";
import { comeToRest, repeatSomeUnanswered } from "./rest.ts";
import { countsOf, type Outcome, stop } from "./run.ts";
import { take } from "./steps.ts";
import { openWorld, type World } from "./world.ts";

export interface DaysOptions {
  readonly seed: string;
  readonly days: number;
  /** Requests in each part of a day. */
  readonly requests: number;
}

/** What the clock leaps after each part of a day. Together they are almost a day: the real time between them adds to it. */
const PARTS_MS = [11.9, 4.5, 4.5, 3].map((hours) => hours * HOUR_MS);

/** For how long a message is found. */
const SHOWN_MS = 7 * DAY_MS;

/** As long as the longest leap, so that what is scheduled comes due within it. */
const WINDOW_SECONDS = 12 * 3_600;

/** A message that was to be sent so long ago is not under way: its window has ended. */
const OVER_MS = DAY_MS;

/** How long messages may take, in real time, once they are due. */
const PATIENCE = { withinMs: 30_000 };

const RETRY_LEAPS = { ms: 10_000, lookMs: 40, most: 60 };

/** Messages close to this age are not judged: the clock goes on while they are looked up. */
const BORDER_MS = 120_000;

/** How many lookups are under way at a time. */
const AT_ONCE = 8;

export async function runDays(store: Store, options: DaysOptions): Promise<Outcome> {
  const world = await openWorld(store, {
    seed: options.seed,
    steps: 0,
    windowSeconds: WINDOW_SECONDS,
    daysAgo: options.days + LONGEST_KEPT_DAYS + 3,
  });
  const { fleet, model } = world;
  try {
    const feeds = followFeeds(world);
    const dice = createDice(`${options.seed}/days`);
    const mornings: number[] = [];
    for (let left = options.days; left >= 0; left--) {
      mornings.push(fleet.now());
      // All that is scheduled comes to its end within the run, whose last day has no requests.
      const longestMs = Math.min(left * DAY_MS - DAY_MS / 2, SHOWN_MS - HOUR_MS);
      await liveThrough(world, { dice, longestMs, requests: left > 0 ? options.requests : 0 });
      await fleet.heal();
      await lookAtAll(world);
    }
    await comeToRest(world);
    await feeds.stop();
    const problems = await findProblems(world, { since: shownSince(mornings, fleet.now()) });
    const counts = countsOf(world);
    await letAllGo(world);
    const left = await stop(world);
    const errors = fleet.errors().map((line) => `an error in a log: ${line}`);
    return { problems: [...model.problems, ...problems, ...errors, ...left], counts };
  } finally {
    await world.close();
  }
}

/** The first morning since which all messages are found. */
function shownSince(mornings: readonly number[], now: number): number {
  return mornings.find((at) => at > now - SHOWN_MS + BORDER_MS) ?? now;
}

interface Day {
  readonly dice: Dice;
  /** In each of its parts. */
  readonly requests: number;
  /** Of a schedule. */
  readonly longestMs: number;
}

async function liveThrough(world: World, { dice, requests, longestMs }: Day): Promise<void> {
  for (const leapMs of PARTS_MS) {
    const fault = faultOf(dice);
    const disturbed = fault && take(world, fault);
    for (let asked = 0; asked < requests; asked++)
      for (const step of stepsOf(dice, longestMs)) await take(world, step);
    await disturbed;
    // Now: a day later its key is new.
    await repeatSomeUnanswered(world);
    await letRetriesCome(world);
    await world.fleet.leap(leapMs);
  }
}

/**
 * Short leaps while a connector is up, since the waits between tries go by the clock, and those until the next bind by timers.
 * What is not sent by then is sent later.
 */
async function letRetriesCome(world: World): Promise<void> {
  const isUp = () => world.smscs.some((smsc) => smsc.bound() > 0);
  for (let leaps = 0; leaps < RETRY_LEAPS.most && (await queuedIn(world)).length > 0; leaps++) {
    await until(isUp, Boolean, PATIENCE);
    await Bun.sleep(RETRY_LEAPS.lookMs);
    await world.fleet.leap(RETRY_LEAPS.ms);
  }
}

async function queuedIn({ fleet, model, accounts }: World): Promise<readonly Shown[]> {
  const service = fleet.some(() => 0)!;
  return (
    await Promise.all(accounts.map((each) => listAll(model, service, { account: each, status: "queued" })))
  ).flat();
}

/** A request, and what its client may ask about one of this part of the day. */
function stepsOf(dice: Dice, longestMs: number): readonly Step[] {
  const steps: Step[] = [requestOf(dice, longestMs)];
  const back = dice.between(1, 4);
  if (dice.chance(0.1)) steps.push({ kind: "send again", back });
  if (dice.chance(0.15)) steps.push({ kind: "cancel", back });
  return steps;
}

/** As in any chaos run, but on the scale of days. */
function requestOf(dice: Dice, longestMs: number): Asking {
  const { scheduleInMs, expireAfterSeconds, ...asking } = askingOf(dice);
  return {
    ...asking,
    ...(scheduleInMs && { scheduleInMs: dice.between(MINUTE_MS, longestMs) }),
    ...(expireAfterSeconds && { expireAfterSeconds: expireAfterSeconds * 60 }),
  };
}

function faultOf(dice: Dice): Step | undefined {
  const [node, smsc, ms] = [dice.between(0, 1), dice.between(0, 1), dice.between(0, 600)];
  const kind = dice.pick({ none: 3, kill: 1, stop: 1, drop: 2, unbind: 2, "invent receipt": 1 });
  if (kind === "none") return undefined;
  return kind === "kill" || kind === "stop" ? { kind, node, ms } : { kind, smsc };
}

interface Accepted {
  readonly account: Account;
  readonly message_id: string;
  readonly createdAt: number;
  /** Its schedule, or its creation. */
  readonly dueAt: number;
}

/** Every message that was accepted is found for seven days, and in the end of what was done with it; then it is not found. */
async function lookAtAll({ model, fleet }: World): Promise<void> {
  const now = fleet.now();
  const young: Accepted[] = [];
  const old: Accepted[] = [];
  for (const message of acceptedIn(model)) {
    const ageMs = now - message.createdAt;
    if (ageMs < SHOWN_MS - BORDER_MS) young.push(message);
    // Two days are enough: what is gone stays gone.
    else if (ageMs > SHOWN_MS + BORDER_MS && ageMs < SHOWN_MS + 2 * DAY_MS) old.push(message);
  }
  let turn = 0;
  const service = () => fleet.some((count) => turn++ % count)!;
  await forEach(young, async (message) => {
    const isOver = message.dueAt < now - OVER_MS;
    const look = () => lookUp(model, service(), message);
    const isDone = (status: string | undefined) => !isOver || status === "sent" || FINAL.has(status ?? "");
    await until(look, isDone, PATIENCE).catch((error) => {
      model.problems.push(`${message.message_id}, due ${new Date(message.dueAt).toISOString()}: ${error}`);
    });
  });
  await forEach(old, (message) => lookUpInVain(model, service(), message));
}

function acceptedIn({ asked }: Model): readonly Accepted[] {
  return asked.flatMap(({ account, body, answer }) =>
    (answer ?? []).map(({ message_id, created_at }) => ({
      account,
      message_id,
      createdAt: Date.parse(created_at),
      dueAt: Date.parse(String(body.schedule_at ?? created_at)),
    })),
  );
}

async function forEach<T>(things: readonly T[], run: (thing: T) => Promise<void>): Promise<void> {
  const left = things.values();
  const runAll = async () => {
    for (const thing of left) await run(thing);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runAll));
}

/** Tables in which a message leaves something, for sixteen days at most. */
const OF_MESSAGES = [
  ...["messages", "contents", "timeline", "jobs", "provider_ids", "parked_receipts", "idempotency_keys"],
  ...["events", "webhooks", "webhook_attempts"],
];

const LONGEST_KEPT_DAYS = 16;

/** Lets as many days pass as anything is kept for. What is still there is a problem. */
async function letAllGo(world: World): Promise<void> {
  const { fleet, model } = world;
  // One more: what is kept by the day goes when its last message does.
  for (let day = 0; day <= LONGEST_KEPT_DAYS; day++) {
    await fleet.leap(DAY_MS);
    await lookAtAll(world);
  }
  await until(
    () => tablesWithRows(fleet),
    ({ length }) => length === 0,
    PATIENCE,
  ).catch((error) => {
    model.problems.push(`after ${LONGEST_KEPT_DAYS} days something is left: ${error}`);
  });
}

async function tablesWithRows(fleet: Fleet): Promise<readonly object[]> {
  const counts = OF_MESSAGES.map(async (table) => ({ table, rows: await fleet.rows(table) }));
  return (await Promise.all(counts)).filter(({ rows }) => rows > 0);
}
