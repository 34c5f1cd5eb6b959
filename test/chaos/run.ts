/** Runs a plan, lets everything come to rest, and then looks for problems. */
import { followFeeds } from "./feed-readers.ts";
import type { Store } from "./fleet.ts";
import { findProblems } from "./judgement.ts";
import { comeToRest } from "./rest.ts";
import { take } from "./steps.ts";
import { openWorld, type SmsWorld, type WorldOptions } from "./world.ts";

export interface Outcome {
  readonly problems: readonly string[];
  /** What happened, in numbers. */
  readonly counts: Readonly<Record<string, number>>;
}

export async function runChaos(store: Store, options: WorldOptions): Promise<Outcome> {
  const world = await openWorld(store, options);
  try {
    const feeds = followFeeds(world);
    const begunMs = Date.now();
    await takeSteps(world.plan.steps, (step) => take(world, step));
    const doneMs = Date.now();
    await comeToRest(world);
    await feeds.stop();
    const problems = [...(await findProblems(world)), ...(await stop(world))];
    const times = { seconds: (doneMs - begunMs) / 1_000, untilRest: (Date.now() - doneMs) / 1_000 };
    const counts = { ...countsOf(world), ...(await countTakeovers(world)), ...times };
    return { problems: [...world.model.problems, ...problems], counts };
  } finally {
    await world.close();
  }
}

/** How many attempts were cut off, and how many of them were still heard of, after another process had taken over. */
async function countTakeovers({ fleet }: SmsWorld) {
  const rowsOf = (kind: string) => fleet.rows(`timeline WHERE kind = '${kind}'`);
  return { interrupted: await rowsOf("interrupted"), heardOfLate: await rowsOf("lost_settle") };
}

export async function stop({ fleet }: Pick<SmsWorld, "fleet">): Promise<readonly string[]> {
  const codes = await fleet.stop();
  const jobs = await fleet.rows("jobs");
  return [
    ...(codes.every((code) => code === 0) ? [] : [`the processes ended with ${codes.join()}`]),
    ...(jobs === 0 ? [] : [`${jobs} jobs are left`]),
  ];
}

/** Each begins a little after the one before, which may still be under way. */
export async function takeSteps<Step>(
  steps: readonly { readonly step: Step; readonly pauseMs: number }[],
  take: (step: Step) => Promise<void>,
): Promise<void> {
  const underWay: Promise<void>[] = [];
  for (const { step, pauseMs } of steps) {
    underWay.push(take(step));
    await Bun.sleep(pauseMs);
  }
  await Promise.all(underWay);
}

export function countsOf({ model, handOvers, fleet, receivers }: SmsWorld): Outcome["counts"] {
  return {
    requests: model.asked.length,
    messages: model.asked.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0),
    submits: handOvers().length,
    canceled: model.canceled.length,
    delivered: [...model.feeds.values()].flat().filter(({ type }) => type === "sms.delivered").length,
    webhooks: [...receivers.values()].reduce((sum, { deliveries }) => sum + deliveries.length, 0),
    faults: fleet.faults.length,
  };
}
