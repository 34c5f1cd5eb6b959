import { Counter, Gauge, Registry } from "@prometheus-io/client";
import packageJson from "../../../package.json" with { type: "json" };
import type { Alarm } from "../../core/alarms/alarm.ts";
import type { Clock } from "../../core/clock.ts";
import { CHANNELS } from "../../core/messages/message.ts";
import type { DeliveryMetrics } from "../../delivery/delivery-metrics.ts";
import type { WebhookEngine } from "../../webhooks/webhook-engine.ts";
import { alarmMetrics } from "./alarm-metrics.ts";
import { attemptMetrics } from "./attempt-metrics.ts";
import { type InboundMetrics, inboundMetrics } from "./inbound-metrics.ts";
import { createLatencyHistogram, type LatencyHistogram } from "./latency-histogram.ts";
import { createReturnMailMetrics, type ReturnMailMetrics } from "./return-mail-metrics.ts";
import { type StateSources, stateMetrics } from "./state-metrics.ts";
import { readStored, type StoredSources } from "./stored.ts";
import { createUnavailableRequests, type UnavailableRequests } from "./unavailable-requests.ts";
import { type WebhookMetrics, webhookMetrics } from "./webhook-metrics.ts";

/** Milliseconds. Fine in the range of normal requests, coarse above. */
const REQUEST_BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 30_000];

/** Milliseconds. */
const LAG_BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];

export interface MetricsSources extends StateSources, StoredSources {
  readonly webhooks: Pick<WebhookEngine, "paused" | "underWay">;
  readonly alarms: () => readonly Alarm[];
  readonly clock: Pick<Clock, "now" | "after">;
}

export interface Metrics extends ReturnMailMetrics {
  readonly observe: DeliveryMetrics;
  readonly inbound: InboundMetrics;
  readonly webhooks: Pick<WebhookMetrics, "observe">;
  request(request: { operation: string; status: number; ms: number }): void;
  readonly unavailable: Pick<UnavailableRequests, "inLastMinute">;
  /** A timer of `thread` fired `lateMs` late; see `reportLateTimers`. */
  timer(thread: string, lateMs: number): void;
  /** The text exposition format, read from `sources` at this moment. */
  text(sources: MetricsSources): Promise<string>;
}

/** @param roles those that run in this process */
export function createMetrics(clock: Pick<Clock, "monotonicMs">, roles: Iterable<string>): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const { requestSeconds, lagSeconds } = createHistograms();
  processMetrics(registers, roles);
  const attempts = attemptMetrics(registers);
  const observe = { attempt: attempts.observe, ...deliveryMetrics(registers) };
  const inbound = inboundMetrics(registers);
  const showAlarms = alarmMetrics(registers);
  const webhooks = webhookMetrics(registers);
  const show = stateMetrics(registers);
  const countRequest = requestMetrics(registers, requestSeconds);
  const unavailable = createUnavailableRequests(clock);
  return {
    observe,
    inbound,
    webhooks,
    ...createReturnMailMetrics(registers),
    request(request) {
      countRequest(request);
      unavailable.note(request);
    },
    unavailable,
    timer: lagSeconds.observe,
    async text(sources) {
      const stored = await readStored(sources);
      // Nothing is awaited until the text is begun: otherwise two scrapes at a time could find each other's gauges half set.
      show(sources, stored);
      inbound.show(stored?.unassigned);
      webhooks.show(sources.webhooks, stored?.webhooks);
      showAlarms(sources.alarms());
      attempts.forgetOthers(new Set(sources.connectors().map(({ id }) => id)));
      const text = registry.metrics();
      const histograms = [requestSeconds, lagSeconds, attempts, webhooks];
      return (await text) + histograms.map((each) => each.text()).join("");
    },
  };
}

function createHistograms() {
  const requestSeconds = createLatencyHistogram(
    {
      name: "postrider_http_request_seconds",
      help: "Time from a request's head to its answer",
      label: "operation",
    },
    REQUEST_BUCKETS_MS,
  );
  const lagSeconds = createLatencyHistogram(
    {
      name: "postrider_event_loop_lag_seconds",
      help: "How late timers fire: as long does a request wait before it is read",
      label: "thread",
    },
    LAG_BUCKETS_MS,
  );
  return { requestSeconds, lagSeconds };
}

function requestMetrics(registers: Registry[], seconds: LatencyHistogram): Metrics["request"] {
  // Counted here and copied at a scrape: looking up the library's labels costs more than counting.
  const counts = new Map<string, Map<number, number>>();
  new Counter({
    name: "postrider_http_requests_total",
    help: "Answered requests by operation and status",
    labelNames: ["operation", "status"],
    registers,
    collect() {
      this.reset();
      for (const [operation, byStatus] of counts) {
        for (const [status, count] of byStatus) this.labels(operation, String(status)).inc(count);
      }
    },
  });
  return ({ operation, status, ms }) => {
    const byStatus = counts.get(operation) ?? new Map<number, number>();
    counts.set(operation, byStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    seconds.observe(operation, ms);
  };
}

/** Which version runs, in which roles, and what the process uses. Read only at a scrape; the library's default collectors sample all the time. */
function processMetrics(registers: Registry[], roles: Iterable<string>): void {
  new Gauge({
    name: "postrider_build_info",
    help: "1; which version runs",
    labelNames: ["version"],
    registers,
  })
    .labels(packageJson.version)
    .set(1);
  const role = new Gauge({
    name: "postrider_role",
    help: "1 for each role that the process has",
    labelNames: ["role"],
    registers,
  });
  for (const each of roles) role.labels(each).set(1);
  const read = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const now = orUnknown(value);
        if (now === undefined) this.remove();
        else this.set(now);
      },
    });
  read("process_resident_memory_bytes", "Resident memory size in bytes", () => process.memoryUsage.rss());
  read("process_heap_bytes", "Heap size in bytes", () => process.memoryUsage().heapUsed);
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent in seconds",
    registers,
    collect() {
      const seconds = orUnknown(usedSeconds);
      this.remove();
      if (seconds !== undefined) this.inc(seconds);
    },
  });
  read("process_uptime_seconds", "Time since the start of the process in seconds", () => process.uptime());
}

function usedSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** `undefined` if the system does not tell, as without free files: the other metrics are then needed all the more. */
function orUnknown(value: () => number): number | undefined {
  try {
    return value();
  } catch {
    return undefined;
  }
}

function deliveryMetrics(registers: Registry[]): Omit<DeliveryMetrics, "attempt"> {
  const unconfirmed = new Counter({
    name: "postrider_interrupted_total",
    help: "Messages found with a lease that ran out: they may have been sent before",
    labelNames: ["channel"],
    registers,
  });
  // Prometheus sees an increase only in a series that it has seen before.
  for (const channel of CHANNELS) unconfirmed.labels(channel).inc(0);
  const droppedReceipts = new Counter({
    name: "postrider_receipts_dropped_total",
    help: "Parked receipts deleted because their connector had too many",
    labelNames: ["connector"],
    registers,
  });
  const droppedInbound = new Counter({
    name: "postrider_inbound_dropped_total",
    help: "Inbound SMS to numbers of no account deleted because there were too many",
    labelNames: ["connector"],
    registers,
  });
  return {
    unconfirmed: (channel) => unconfirmed.labels(channel).inc(),
    droppedReceipts: ({ connector, count }) => droppedReceipts.labels(connector).inc(count),
    droppedInbound: ({ connector, count }) => droppedInbound.labels(connector).inc(count),
  };
}
