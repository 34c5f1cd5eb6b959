import type { ServedRoute, Worker } from "./worker.ts";

/** The workers: one for each configured route, and one for each connector whose own queue has had a job. */
export interface Workers {
  /** Starts workers for new routes, and stops those of deleted ones. */
  reconcile(routes: readonly ServedRoute[]): void;
  /** Wakes the worker of a queue. A connector's own queue gets its worker now, if it has none yet. */
  wake(queue: string): void;
  wakeAll(): void;
  /** Names of the workers that have not looked for jobs since `sinceMs` (monotonic). */
  stalledSince(sinceMs: number): readonly string[];
  /** Ids of the jobs that are being sent; see `InFlightJobs`. */
  inFlight(): readonly number[];
  stop(): Promise<void>;
}

/**
 * @param create makes the worker of a route. It is given a function, since the route's connectors may change.
 * @param isConnector whether a queue is an open connector's own: its name is the connector's id
 */
export function createWorkers(
  create: (route: () => ServedRoute) => Worker,
  isConnector: (queue: string) => boolean,
): Workers {
  const open = new Map<string, { route: ServedRoute; readonly worker: Worker }>();
  /** The workers of deleted routes that still have messages in flight. */
  const leaving = new Map<Worker, Promise<void>>();

  const add = (route: ServedRoute) => {
    const known = open.get(route.id);
    if (known) {
      known.route = route;
      return;
    }
    const current = (): ServedRoute => open.get(route.id)?.route ?? route;
    open.set(route.id, { route, worker: create(current) });
  };

  return {
    reconcile(routes) {
      const kept = new Set(routes.map((route) => route.id));
      for (const route of routes) add(route);
      for (const [id, { worker }] of open) {
        if (kept.has(id) || isConnector(id)) continue;
        open.delete(id);
        leaving.set(
          worker,
          worker.stop().finally(() => leaving.delete(worker)),
        );
      }
    },
    wake(queue) {
      if (!open.has(queue) && isConnector(queue)) add({ id: queue, connectorIds: [queue], isOwnQueue: true });
      open.get(queue)?.worker.wake();
    },
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
