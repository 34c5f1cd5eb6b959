/** Processes that say that they live, and that others are dead, by dice. */
import type { Heartbeat, LeaseSnapshot } from "../../src/store/store.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { byKey } from "./pairs.ts";

const PROCESSES = ["p", "q", "r"];
const SLOTS = ["c-a", "c-b"].flatMap((name) => [0, 1].map((slot) => ({ name, slot })));

/** Of no jobs: one engine has one process, whose claims end with it. */
export async function heartbeat(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const process = dice.oneOf(PROCESSES);
  const beat = {
    process,
    isSharing: dice.chance(0.7),
    keep: SLOTS.filter(() => dice.chance(0.7)).map((slot) => ({ ...slot, isUp: dice.chance(0.5) })),
    take: SLOTS.filter(() => dice.chance(0.5)),
    now: clock.now,
  } satisfies Omit<Heartbeat, "dead">;
  const snapshots = await ask(ground, (store) => store.leases.heartbeat({ ...beat, dead: [] }), shown);
  const dead = snapshots[0].processes.filter((each) => each.process !== process && dice.chance(0.3));
  const stale = dice.chance(0.3) ? 1 : 0;
  const bury = (each: LeaseSnapshot) =>
    each.processes
      .filter((one) => dead.some((other) => other.process === one.process))
      .map((one) => ({ ...one, heartbeat: one.heartbeat - stale }));
  await ask(
    ground,
    (store, engine) => store.leases.heartbeat({ ...beat, dead: bury(snapshots[engine]) }),
    shown,
  );
  const leaving = dice.oneOf(PROCESSES);
  if (dice.chance(0.2)) await ask(ground, (store) => store.leases.leave(leaving));
  return true;
}

/** Each engine numbers heartbeats, and lists them, in its own way. */
function shown({ isNew, processes, leases }: LeaseSnapshot): unknown {
  return {
    isNew,
    processes: processes.map((each) => ({ ...each, heartbeat: 0 })).sort(byKey((each) => each.process)),
    leases: [...leases].sort(byKey(({ name, slot }) => `${name} ${slot}`)),
  };
}
