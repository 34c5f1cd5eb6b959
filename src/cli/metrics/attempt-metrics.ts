import { Counter, type Registry } from "@prometheus-io/client";
import type { DeliveryMetrics } from "../../delivery/delivery-metrics.ts";
import { createLatencyHistogram } from "./latency-histogram.ts";

const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

export interface AttemptMetrics {
  readonly observe: DeliveryMetrics["attempt"];
  /** Drops connectors that are not running now and were not at the last call: their last attempts have been scraped. */
  forgetOthers(running: ReadonlySet<string>): void;
  /** The histograms in the text format; the registry does not have them. */
  text(): string;
}

/** Counts the outcomes and durations of attempts by connector. */
export function attemptMetrics(registers: Registry[]): AttemptMetrics {
  const outcomes = new Counter({
    name: "postrider_attempt_outcomes_total",
    help: "Outcomes per segment or recipient: sent, deferred, rejected, unconfirmed",
    labelNames: ["channel", "connector", "outcome"],
    registers,
  });
  const seconds = createLatencyHistogram(
    {
      name: "postrider_attempt_seconds",
      help: "Time from handing a message to a connector to its outcome",
      label: "connector",
    },
    BUCKETS_MS,
  );
  const counters = new Map<string, Map<string, OfKind>>();
  let gone: ReadonlySet<string> = new Set();

  const forget = (connector: string) => {
    for (const [kind, { channel }] of counters.get(connector) ?? [])
      outcomes.remove(channel, connector, kind);
    counters.delete(connector);
    seconds.forget(connector);
  };
  return {
    observe({ channel, connector, kinds, ms }) {
      const byKind = counters.get(connector) ?? new Map<string, OfKind>();
      counters.set(connector, byKind);
      for (const kind of kinds) {
        const known = byKind.get(kind) ?? { channel, counter: outcomes.labels(channel, connector, kind) };
        byKind.set(kind, known);
        known.counter.inc();
      }
      seconds.observe(connector, ms);
    },
    forgetOthers(running) {
      const others = [...counters.keys()].filter((connector) => !running.has(connector));
      for (const connector of others) if (gone.has(connector)) forget(connector);
      gone = new Set(others);
    },
    text: seconds.text,
  };
}

interface OfKind {
  readonly channel: string;
  readonly counter: { inc(): void };
}
