import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { WebhookVerdict } from "../../core/webhooks/webhook-outbox.ts";
import type { Outbox } from "../../store/store.ts";
import type { WebhookEngine } from "../../webhooks/webhook-engine.ts";
import { createLatencyHistogram } from "./latency-histogram.ts";
import { setOrRemove } from "./set-or-remove.ts";

const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 15_000];

type Kind = WebhookVerdict["kind"];

const OUTCOMES: Readonly<Record<Kind, string>> = {
  delivered: "delivered",
  again: "failed_try",
  ended: "failed",
  released: "called_off",
};

export interface WebhookMetrics {
  observe(kind: Kind, ms: number): void;
  /** Sets the gauges. `backlog` is `undefined` while the database does not answer. */
  show(engine: Pick<WebhookEngine, "paused" | "underWay">, backlog: Backlog | undefined): void;
  /** The histograms in the text format; the registry does not have them. */
  text(): string;
}

type Backlog = Awaited<ReturnType<Outbox["backlog"]>>;

export function webhookMetrics(registers: Registry[]): WebhookMetrics {
  const outcomes = new Counter({
    name: "postrider_webhook_deliveries_total",
    help: "Attempts to deliver webhooks by outcome: delivered, failed_try (to be tried again), failed (for good), called_off",
    labelNames: ["outcome"],
    registers,
  });
  const seconds = createLatencyHistogram(
    { name: "postrider_webhook_seconds", help: "Time a delivery of a webhook took", label: "outcome" },
    BUCKETS_MS,
  );
  const counters = new Map(
    Object.entries(OUTCOMES).map(([kind, outcome]) => [kind, outcomes.labels(outcome)] as const),
  );
  return {
    observe(kind, ms) {
      counters.get(kind)?.inc();
      seconds.observe(OUTCOMES[kind], ms);
    },
    show: gauges(registers),
    text: seconds.text,
  };
}

function gauges(registers: Registry[]): WebhookMetrics["show"] {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const ready = gauge("postrider_webhooks_ready", "Webhooks ready for delivery, counted up to 100,000");
  const waiting = gauge(
    "postrider_webhooks_waiting",
    "Webhooks that wait for their next attempt, counted up to 100,000",
  );
  const underWay = gauge("postrider_webhooks_under_way", "Webhooks that this process is delivering");
  const paused = gauge(
    "postrider_webhook_hosts_paused",
    "Hosts, by account, to which this process has paused deliveries",
  );
  return (engine, backlog) => {
    setOrRemove(ready, backlog?.ready);
    setOrRemove(waiting, backlog?.waiting);
    underWay.set(engine.underWay());
    paused.set(engine.paused().length);
  };
}
