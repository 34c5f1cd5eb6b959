import type { Route } from "../core/records/accounts.ts";
import type { Worker } from "./worker.ts";

/** The workers: one for each configured route. */
export interface Workers {
  /** Starts workers for new routes, and stops those of deleted ones. */
  reconcile(routes: readonly Route[]): void;
  wake(queue: string): void;
  wakeAll(): void;
  /** Names of the workers that have not looked for jobs since `sinceMs` (monotonic). */
  stalledSince(sinceMs: number): readonly string[];
  /** Ids of the jobs that are being sent; see `InFlightJobs`. */
  inFlight(): readonly number[];
  stop(): Promise<void>;
}

/** @param create makes the worker of a route. It is given a function, since the route's connectors may change. */
export function createWorkers(create: (route: () => Route) => Worker): Workers {
  const open = new Map<string, { route: Route; readonly worker: Worker }>();
  /** The workers of deleted routes that still have messages in flight. */
  const leaving = new Map<Worker, Promise<void>>();

  const add = (route: Route) => {
    const known = open.get(route.id);
    if (known) {
      known.route = route;
      return;
    }
    const current = (): Route => open.get(route.id)?.route ?? route;
    open.set(route.id, { route, worker: create(current) });
  };

  return {
    reconcile(routes) {
      const kept = new Set(routes.map((route) => route.id));
      for (const route of routes) add(route);
      for (const [id, { worker }] of open) {
        if (kept.has(id)) continue;
        open.delete(id);
        leaving.set(
          worker,
          worker.stop().finally(() => leaving.delete(worker)),
        );
      }
    },
    wake: (queue) => open.get(queue)?.worker.wake(),
    wakeAll() {
      for (const { worker } of open.values()) worker.wake();
    },
    stalledSince: (sinceMs) =>
      [...open].flatMap(([id, { worker }]) => (worker.lastLookMs() < sinceMs ? [`worker ${id}`] : [])),
    inFlight: () =>
      [...leaving.keys(), ...[...open.values()].map(({ worker }) => worker)].flatMap((worker) =>
        worker.inFlight(),
      ),
    async stop() {
      await Promise.all([...leaving.values(), ...[...open.values()].map(({ worker }) => worker.stop())]);
    },
  };
}
