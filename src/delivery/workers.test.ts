import { expect, test } from "bun:test";
import type { Route } from "../core/records/accounts.ts";
import { createWorkers } from "./workers.ts";

const route = (id: string, change: Partial<Route> = {}): Route => ({
  id,
  channel: "sms",
  match: "",
  connectorIds: [],
  createdAt: 0,
  ...change,
});

function open() {
  const happened: string[] = [];
  const stops = new Map<string, () => void>();
  const routes = new Map<string, () => Route>();
  const turns = new Map<string, number>();
  const workers = createWorkers((current) => {
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
  });
  return { happened, routes, stops, turns, workers };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("each route has one worker, which goes by the route as it is now and is stopped when it is gone", () => {
  const { happened, routes, workers } = open();
  workers.reconcile([route("a"), route("b")]);
  workers.reconcile([route("a", { match: "91" })]);
  expect(happened).toEqual(["start a", "start b", "stop b"]);
  expect(routes.get("a")?.().match).toBe("91");
  workers.wake("a");
  workers.wake("b");
  workers.wakeAll();
  expect(happened.slice(3)).toEqual(["wake a", "wake a"]);
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
