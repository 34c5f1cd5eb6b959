import { expect, test } from "bun:test";
import type { ServedRoute } from "./worker.ts";
import { createWorkers } from "./workers.ts";

const route = (id: string, connectorIds: readonly string[] = []): ServedRoute => ({ id, connectorIds });

function open() {
  const happened: string[] = [];
  const stops = new Map<string, () => void>();
  const routes = new Map<string, () => ServedRoute>();
  const connectors = new Set(["c"]);
  const turns = new Map<string, number>();
  const create = (current: () => ServedRoute) => {
    const { id } = current();
    routes.set(id, current);
    happened.push(`start ${id}`);
    return {
      wake: () => void happened.push(`wake ${id}`),
      lastLookMs: () => turns.get(id) ?? 0,
      inFlight: () => [id.charCodeAt(0)],
      stop: () =>
        new Promise<void>((resolve) => {
          happened.push(`stop ${id}`);
          stops.set(id, resolve);
        }),
    };
  };
  const workers = createWorkers(create, (queue) => connectors.has(queue));
  return { connectors, happened, routes, stops, turns, workers };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("each route has one worker, which goes by the route as it is now and is stopped when it is gone", () => {
  const { happened, routes, workers } = open();
  workers.reconcile([route("a"), route("b")]);
  workers.reconcile([route("a", ["x"])]);
  expect(happened).toEqual(["start a", "start b", "stop b"]);
  expect(routes.get("a")?.().connectorIds).toEqual(["x"]);
  workers.wake("a");
  workers.wake("b");
  workers.wakeAll();
  expect(happened.slice(3)).toEqual(["wake a", "wake a"]);
});

test("a connector's own queue gets a worker when it first has a job, until the connector is closed", () => {
  const { connectors, happened, routes, workers } = open();
  workers.reconcile([route("a")]);
  for (const queue of ["c", "c", "unknown"]) workers.wake(queue);
  workers.reconcile([route("a")]);
  expect(happened).toEqual(["start a", "start c", "wake c", "wake c"]);
  expect(routes.get("c")?.()).toEqual({ ...route("c", ["c"]), isOwnQueue: true });
  connectors.delete("c");
  workers.reconcile([route("a")]);
  workers.wake("c");
  expect(happened.slice(4)).toEqual(["stop c"]);
});

test("a stop waits for all workers, those of routes that are gone included", async () => {
  const { happened, stops, workers } = open();
  workers.reconcile([route("a"), route("b")]);
  workers.reconcile([route("b")]);
  void workers.stop().then(() => happened.push("stopped"));
  stops.get("b")?.();
  await soon();
  expect(happened).not.toContain("stopped");
  expect(workers.inFlight()).toContain("a".charCodeAt(0));
  stops.get("a")?.();
  await soon();
  expect(workers.inFlight()).not.toContain("a".charCodeAt(0));
  expect(happened.at(-1)).toBe("stopped");
});

test("workers that have not turned lately are named", () => {
  const { turns, workers } = open();
  workers.reconcile([route("a"), route("b")]);
  turns.set("a", 1_000);
  turns.set("b", 2_000);
  expect(workers.stalledSince(2_000)).toEqual(["worker a"]);
});
