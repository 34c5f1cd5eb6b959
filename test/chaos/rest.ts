/** Lets a run come to its end: nothing fails any more, and the clocks leap until no message or webhook is under way. */
import { admin } from "../admin.ts";
import { listAll, send } from "./client.ts";
import { statusTold } from "./feed-rules.ts";
import { FINAL, type Request, type Shown } from "./model.ts";
import { wholeFeed } from "./read-back.ts";
import { type AnyWorld, BINDS, type World } from "./world.ts";

/** Short leaps first, so that retries happen: long ones would end messages with short windows. */
const FIRST_LEAPS = { count: 6, ms: 20_000 };
/** Shorter than the age at which receivers refuse a webhook. */
const LEAP_MS = 200_000;
const LOOK_MS = 100;
/** How many pass before a leap. */
const LOOKS = { whileSending: 10, whileHeld: 2 };
const TIME_LIMIT_MS = 90_000;
/** The events of older messages may be gone. */
const IN_FEED_MS = 6 * 24 * 3_600_000;

/** What is not at rest after `TIME_LIMIT_MS` is noted as a problem. */
export async function comeToRest(world: World): Promise<void> {
  await beginToRest(world);
  const endsMs = Date.now() + TIME_LIMIT_MS;
  await untilBound(world, endsMs);
  await leapUntilAtRest(world, { owed: owedBy(world.smscs), endsMs });
}

/** Waits until all binds are there. Those that are not by then are a problem. */
export async function untilBound({ model, smscs }: Pick<World, "model" | "smscs">, endsMs: number) {
  const unbound = () => smscs.filter((smsc) => smsc.bound() < BINDS);
  while (unbound().length > 0 && Date.now() < endsMs) await Bun.sleep(LOOK_MS);
  for (const smsc of unbound())
    model.problems.push(`the ${smsc.name} SMSC has ${smsc.bound()} of ${BINDS} binds in the end`);
}

/** Says how many receipts providers have not got rid of; nothing if there are none. */
export function owedBy(providers: readonly { owed(): number }[]): () => readonly string[] {
  return () => {
    const owed = providers.reduce((sum, provider) => sum + provider.owed(), 0);
    return owed > 0 ? [`${owed} receipts are not stored`] : [];
  };
}

/** Everything runs and nothing fails any more; what clients may still repeat, they do. */
export async function beginToRest<Asking extends Request>(world: AnyWorld<Asking>): Promise<void> {
  await world.fleet.heal();
  world.beKind();
  await repeatSomeUnanswered(world);
}

interface Resting {
  /** What providers have not got rid of. */
  readonly owed: () => readonly string[];
  readonly endsMs?: number;
  /** So many looks pass before a leap while something is queued: emails take longer to be sent. */
  readonly looksWhileQueued?: number;
}

export async function leapUntilAtRest<Asking extends Request>(
  world: AnyWorld<Asking>,
  { owed, endsMs = Date.now() + TIME_LIMIT_MS, looksWhileQueued = 1 }: Resting,
): Promise<void> {
  const { fleet, model } = world;
  let lastLeft = "";
  for (let leaps = 0, looks = 1; ; looks++) {
    const restless = owed().length > 0 ? owed() : await restlessOf(world);
    if (restless.length === 0) return;
    if (Date.now() > endsMs) {
      model.problems.push(`not at rest: ${restless.slice(0, 20).join("; ")}`);
      return;
    }
    // An attempt under way gets time to end. What is as it was before a long leap, which outlasts a lease, is held until its window ends.
    const left = restless.toSorted().join();
    const has = (state: string) => restless.some((each) => each.endsWith(`is ${state}`));
    const isHeld = leaps > FIRST_LEAPS.count && left === lastLeft;
    const looksWhileSending = isHeld ? LOOKS.whileHeld : LOOKS.whileSending;
    const isBusy = has("sending")
      ? looks % looksWhileSending !== 0
      : has("queued") && looks % looksWhileQueued !== 0;
    if (!isBusy) {
      lastLeft = left;
      await fleet.leap(leaps++ < FIRST_LEAPS.count ? FIRST_LEAPS.ms : LEAP_MS);
    }
    await Bun.sleep(LOOK_MS);
  }
}

/** Repeats every other unanswered request that has a key, until it is answered. */
export async function repeatSomeUnanswered<Asking extends Request>({
  model,
  fleet,
}: AnyWorld<Asking>): Promise<void> {
  for (const asked of model.asked) {
    const isToBe = asked.answer === undefined && asked.key !== undefined && asked.index % 2 === 0;
    const isOpen = () => isToBe && asked.answer === undefined && !asked.isRefused;
    for (let tries = 0; isOpen() && tries < 50; tries++) {
      await send(model, fleet.some((count) => tries % count)!, asked);
      if (isOpen()) await Bun.sleep(100);
    }
    if (isOpen()) model.problems.push(`request ${asked.index} is never answered`);
  }
}

async function restlessOf<Asking extends Request>(world: AnyWorld<Asking>): Promise<readonly string[]> {
  const { accounts, fleet, model } = world;
  const service = fleet.some(() => 0)!;
  const lists = await Promise.all(accounts.map((account) => listAll(model, service, { account })));
  const messages = lists.flat().filter(({ status }) => !FINAL.has(status) && status !== "sent");
  if (messages.length > 0) return messages.map(({ message_id, status }) => `${message_id} is ${status}`);
  const restless: string[] = [];
  for (const { accountId } of accounts) {
    for (const state of ["held", "ready", "waiting", "leased"]) {
      const path = `/webhooks?account_id=${accountId}&state=${state}&limit=200`;
      const { data } = await admin<{ data: { id: string }[] }>(service, path);
      restless.push(...data.map(({ id }) => `${id} is ${state}`));
    }
  }
  return restless.length > 0 ? restless : untoldOf(world, lists);
}

/**
 * Messages whose last event is not in the feed yet: on PostgreSQL it gets its place a moment after it is committed, so that a
 * reader who stops at once would miss it. `lists`: the messages of each account.
 */
async function untoldOf<Asking extends Request>(
  world: AnyWorld<Asking>,
  lists: readonly (readonly Shown[])[],
): Promise<readonly string[]> {
  const { accounts, fleet, model } = world;
  const from = fleet.now() - IN_FEED_MS;
  const untold = accounts.map(async (account, index) => {
    const events = Map.groupBy(await wholeFeed(world, account), ({ data }) => data.message_id);
    const isUntold = ({ message_id, status, created_at }: Shown) =>
      Date.parse(created_at) > from && statusTold(model.channel, events.get(message_id) ?? []) !== status;
    return (lists[index] ?? []).filter(isUntold).map(({ message_id }) => `${message_id} is not told of`);
  });
  return (await Promise.all(untold)).flat();
}
