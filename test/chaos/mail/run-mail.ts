/** Runs a plan with emails, lets everything come to rest, and then looks for problems. */
import { followFeeds } from "../feed-readers.ts";
import type { Store } from "../fleet.ts";
import { beginToRest, leapUntilAtRest, owedBy } from "../rest.ts";
import { type Outcome, stop, takeSteps } from "../run.ts";
import { findMailProblems } from "./mail-judgement.ts";
import { takeMailStep } from "./mail-steps.ts";
import { type MailWorld, openMailWorld } from "./mail-world.ts";

/** A held email is at rest once its window has ended: many leaps. */
const REST_MS = 180_000;

export async function runMailChaos(
  store: Store,
  options: { readonly seed: string; readonly steps: number },
): Promise<Outcome> {
  const world = await openMailWorld(store, options);
  try {
    const feeds = followFeeds(world);
    await takeSteps(world.plan.steps, (step) => takeMailStep(world, step));
    await beginToRest(world);
    const endsMs = Date.now() + REST_MS;
    await leapUntilAtRest(world, { owed: owedBy(world.relays), looksWhileQueued: 4, endsMs });
    await feeds.stop();
    const problems = await findMailProblems(world);
    const counts = countsOf(world);
    return { problems: [...world.model.problems, ...problems, ...(await stop(world))], counts };
  } finally {
    await world.close();
  }
}

function countsOf({ model, relays, fleet, receivers }: MailWorld): Outcome["counts"] {
  const mails = relays.flatMap((relay) => relay.mails);
  return {
    requests: model.asked.length,
    emails: model.asked.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0),
    mails: mails.length,
    reports: mails.filter(({ report }) => report).length,
    canceled: model.canceled.length,
    webhooks: [...receivers.values()].reduce((sum, { deliveries }) => sum + deliveries.length, 0),
    faults: fleet.faults.length,
  };
}
