import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "@prometheus-io/client";
import type { Observe } from "../delivery/engine.ts";
import type { UpkeepStore } from "../store/store.ts";

/** Seconds. Fine where an accept lives, coarse where something is wrong. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Ages are compared with the wall clock at the time of the scrape. */
export interface MetricsSources {
  readonly upkeep: Pick<UpkeepStore, "backlog" | "parkedReceipts">;
  readonly connectors: () => readonly { readonly id: string; readonly isUp: boolean }[];
  readonly now: () => number;
}

export interface Metrics {
  readonly observe: Observe;
  request(request: { operation: string; status: number; ms: number }): void;
  /** The text exposition format, read from `sources` at this moment. */
  text(sources: MetricsSources): Promise<string>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    request: requestMetrics(registers),
    observe: deliveryMetrics(registers),
    text: textOf(registry, stateMetrics(registers)),
  };
}

function requestMetrics(registers: Registry[]): Metrics["request"] {
  const requests = new Counter({
    name: "postrider_http_requests_total",
    help: "Answered requests by operation and status",
    labelNames: ["operation", "status"],
    registers,
  });
  const seconds = new Histogram({
    name: "postrider_http_request_seconds",
    help: "Time from the request's head to its answer",
    labelNames: ["operation"],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  // Looking labels up costs more than counting, and both are few.
  const counters = new Map<string, { inc(): void }>();
  const timers = new Map<string, { observe(value: number): void }>();
  return ({ operation, status, ms }) => {
    keep(counters, `${operation} ${status}`, () => requests.labels(operation, String(status))).inc();
    keep(timers, operation, () => seconds.labels(operation)).observe(ms / 1_000);
  };
}

function deliveryMetrics(registers: Registry[]): Observe {
  const outcomes = new Counter({
    name: "postrider_attempt_outcomes_total",
    help: "Outcomes per segment or recipient: sent, deferred, rejected, unconfirmed",
    labelNames: ["channel", "connector", "outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "postrider_attempt_seconds",
    help: "Time from handing a message to a connector to its outcome",
    labelNames: ["channel", "connector"],
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const unconfirmed = new Counter({
    name: "postrider_interrupted_total",
    help: "Messages found with a lease that ran out: they may have been sent before",
    labelNames: ["channel"],
    registers,
  });
  return {
    attempt({ channel, connector, kinds, ms }) {
      for (const kind of kinds) outcomes.labels(channel, connector, kind).inc();
      seconds.labels(channel, connector).observe(ms / 1_000);
    },
    unconfirmed: (channel) => unconfirmed.labels(channel).inc(),
  };
}

function stateMetrics(registers: Registry[]) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  return {
    ready: gauge("postrider_queue_ready", "Jobs in line, counted up to 100,000", ["queue"]),
    oldest: gauge("postrider_queue_oldest_ready_seconds", "How long the oldest job in line has been due", [
      "queue",
    ]),
    parked: gauge("postrider_receipts_parked", "Receipts that match no message yet"),
    up: gauge("postrider_connector_up", "1 while the connector is connected", ["connector"]),
  };
}

function textOf(registry: Registry, gauges: ReturnType<typeof stateMetrics>): Metrics["text"] {
  return async ({ upkeep, connectors, now }) => {
    for (const gauge of Object.values(gauges)) gauge.reset();
    for (const { queue, ready, oldestReadySince } of await upkeep.backlog()) {
      gauges.ready.labels(queue).set(ready);
      gauges.oldest.labels(queue).set(Math.max(0, now() - (oldestReadySince ?? now())) / 1_000);
    }
    gauges.parked.set(await upkeep.parkedReceipts());
    for (const { id, isUp } of connectors()) gauges.up.labels(id).set(isUp ? 1 : 0);
    return registry.metrics();
  };
}

function keep<T>(cache: Map<string, T>, key: string, make: () => T): T {
  const known = cache.get(key);
  if (known) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
