/** The moments at which something is due, or over, and one millisecond to either side. */
import type { Store } from "../../src/store/store.ts";
import { ask, type Ground } from "./engine-ground.ts";

/** Goes on to such a moment, and does what is due there, by one limit or another. */
export async function meetEdge(ground: Ground): Promise<unknown> {
  const { dice, clock, messages } = ground;
  const [jobs] = await ask(ground, (store) => store.queue.nextDueAt());
  const [webhooks] = await ask(ground, (store) => store.outbox.nextDueAt());
  const ends = messages.map(({ expiresAt }) => expiresAt);
  const ahead = [jobs, webhooks, ...ends].filter((at) => at !== undefined && at > clock.now + 1);
  if (ahead.length === 0) return false;
  // Seldom far ahead, where everything is over.
  const at = dice.chance(0.85) ? Math.min(...(ahead as number[])) : (dice.oneOf(ahead) as number);
  clock.now = at + dice.oneOf([-1, 0, 1]);
  if (dice.chance(0.7)) await stageAll(ground);
  if (dice.chance(0.7)) await expireAll(ground);
  return true;
}

/** A sweep of a process that works on some jobs whose leases are over: its clock may have jumped. */
export async function stageAll(ground: Ground): Promise<unknown> {
  const { dice, clock, jobs } = ground;
  const inFlight = jobs.filter(() => dice.chance(0.3));
  const limit = dice.oneOf([1, 3, 1_000]);
  const stage = ({ queue }: Store, engine: 0 | 1) =>
    untilNothing(() =>
      queue.stage(clock.now, limit, { inFlight: inFlight.map((pair) => pair[engine].jobId) }),
    );
  return (await ask(ground, stage))[0];
}

export async function expireAll(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const limit = dice.oneOf([1, 2, 1_000]);
  return (await ask(ground, ({ queue }) => untilNothing(() => queue.expire(clock.now, limit))))[0];
}

async function untilNothing(call: () => Promise<number>): Promise<number> {
  let done = 0;
  for (let some = 1; some > 0; done += some) some = await call();
  return done;
}
