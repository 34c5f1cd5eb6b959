/** Runs a plan with HTTP gateways, lets everything come to rest, and then looks for problems. */
import { followFeeds } from "../feed-readers.ts";
import type { Store } from "../fleet.ts";
import { findProblems } from "../judgement.ts";
import { beginToRest, leapUntilAtRest, owedBy, untilBound } from "../rest.ts";
import { countsOf, type Outcome, stop, takeSteps } from "../run.ts";
import { gatewayRules } from "./gateway-rules.ts";
import { takeGatewayStep } from "./gateway-steps.ts";
import { openGatewayWorld } from "./gateway-world.ts";
import { inboundProblems } from "./inbound-rules.ts";

/** A gateway that is down, or throttles, is left alone for some seconds, whatever the clocks say. */
const REST = { timeLimitMs: 120_000, looksWhileQueued: 5 };

export async function runGatewayChaos(
  store: Store,
  options: { readonly seed: string; readonly steps: number },
): Promise<Outcome> {
  const world = await openGatewayWorld(store, options);
  const { model, plan, gateways, smscs, handsets } = world;
  try {
    const feeds = followFeeds(world);
    await takeSteps(plan.steps, (step) => takeGatewayStep(world, step));
    await beginToRest(world);
    const endsMs = Date.now() + REST.timeLimitMs;
    await untilBound(world, endsMs);
    const owed = owedBy([...gateways, ...smscs, handsets]);
    const rest = () => leapUntilAtRest(world, { owed, endsMs, looksWhileQueued: REST.looksWhileQueued });
    await rest();
    if (plan.isOneAccount) {
      await Bun.sleep(TWO_LOOKS_MS);
      await rest();
    }
    await feeds.stop();
    const problems = [
      ...(await findProblems(world, { rules: gatewayRules(plan) })),
      ...(await inboundProblems(world)),
      ...gateways.flatMap((gateway) => gateway.problems),
    ];
    const counts = { ...countsOf(world), written: handsets.written.length };
    return { problems: [...model.problems, ...problems, ...(await stop(world))], counts };
  } finally {
    await world.close();
  }
}

/** Each second reports are looked for among the messages of the other connector. No clock shortens that. */
const TWO_LOOKS_MS = 2_500;
