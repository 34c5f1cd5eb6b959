import { Gauge, type Registry } from "@prometheus-io/client";
import type { ConnectorStatus } from "../../channels/channel.ts";
import type { Clock } from "../../core/clock.ts";
import type { DomainState } from "../../core/domains/domain.ts";
import { setOrRemove } from "./set-or-remove.ts";
import type { Stored } from "./stored.ts";

/** Ages are compared with the wall clock at the time of the scrape. */
export interface StateSources {
  readonly connectors: () => readonly { readonly id: string; readonly status: ConnectorStatus }[];
  readonly domains: () => Readonly<Record<DomainState, number>>;
  /** How far this machine's clock is ahead of the database's. */
  readonly clockAheadMs: () => number | undefined;
  /** From when until when the certificate that is served is valid, in Unix milliseconds. */
  readonly certificate: () => { readonly beginsAt: number; readonly endsAt: number } | undefined;
  readonly clock: Pick<Clock, "now">;
}

/** Gauges of the state at a scrape. The returned function sets them. */
export function stateMetrics(
  registers: Registry[],
): (sources: StateSources, stored: Stored | undefined) => void {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const domains = gauge(
    "postrider_domains",
    "Domains of all accounts; failing ones stop sending when they lapse",
    ["state"],
  );
  const clockAhead = gauge(
    "postrider_clock_ahead_of_database_seconds",
    "How far this machine's clock is ahead of PostgreSQL's; negative if it is behind",
  );
  const certificateBegin = gauge(
    "postrider_certificate_begin_timestamp_seconds",
    "From when on the certificate that is served is valid, in Unix seconds",
  );
  const certificateEnd = gauge(
    "postrider_certificate_end_timestamp_seconds",
    "When the certificate that is served ends, in Unix seconds",
  );
  const connectors = connectorMetrics(gauge);
  const showStored = storedMetrics(gauge);
  return (sources, stored) => {
    showStored(stored, sources.clock.now());
    for (const each of [domains, ...Object.values(connectors)]) each.reset();
    for (const [state, count] of Object.entries(sources.domains())) domains.labels(state).set(count);
    for (const { id, status } of sources.connectors()) setConnector(connectors, id, status);
    const aheadMs = sources.clockAheadMs();
    setOrRemove(clockAhead, aheadMs === undefined ? undefined : aheadMs / 1_000);
    const certificate = sources.certificate();
    setOrRemove(certificateBegin, certificate && certificate.beginsAt / 1_000);
    setOrRemove(certificateEnd, certificate && certificate.endsAt / 1_000);
  };
}

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge;

/** All of these but the first are absent while the database does not answer. */
function storedMetrics(gauge: MakeGauge): (stored: Stored | undefined, nowMs: number) => void {
  const databaseUp = gauge("postrider_database_up", "1 if the database answered at this scrape");
  const ready = gauge("postrider_queue_ready", "Ready jobs, counted up to 100,000", ["queue"]);
  const oldest = gauge("postrider_queue_oldest_ready_seconds", "How long the oldest ready job has been due", [
    "queue",
  ]);
  const parked = gauge("postrider_receipts_parked", "Receipts that match no message yet");
  const overdue = gauge("postrider_receipts_overdue", "Segments whose receipt has not come in time", [
    "connector",
  ]);
  return (stored, nowMs) => {
    databaseUp.set(stored ? 1 : 0);
    setOrRemove(parked, stored?.parked);
    for (const each of [ready, oldest, overdue]) each.reset();
    for (const { queue, ready: count, oldestReadySince = nowMs } of stored?.queues ?? []) {
      ready.labels(queue).set(count);
      oldest.labels(queue).set(Math.max(0, nowMs - oldestReadySince) / 1_000);
    }
    for (const { connectorId, parts } of stored?.overdue ?? []) overdue.labels(connectorId).set(parts);
  };
}

function connectorMetrics(gauge: MakeGauge) {
  return {
    up: gauge("postrider_connector_up", "1 while the connector is connected", ["connector"]),
    binds: gauge("postrider_connector_binds", "Binds of the connector, by whether they are up", [
      "connector",
      "state",
    ]),
    rate: gauge("postrider_connector_rate", "Segments a second the connector sends at the most now", [
      "connector",
    ]),
    slowed: gauge(
      "postrider_connector_slowed",
      "1 while the connector sends less than configured, because the provider asked for that",
      ["connector"],
    ),
    health: gauge(
      "postrider_connector_health",
      "From 0 (down) to 1; below 0.5 the connector is passed over where its route has a healthier one",
      ["connector"],
    ),
    alarm: gauge(
      "postrider_connector_alarm",
      "1 while the connector has a fault that an operator has to fix",
      ["connector", "alarm"],
    ),
  };
}

function setConnector(
  gauges: ReturnType<typeof connectorMetrics>,
  id: string,
  status: ConnectorStatus,
): void {
  const { state, binds, rate, alarm, health } = status;
  if (health) gauges.health.labels(id).set(health.score);
  gauges.up.labels(id).set(state === "up" ? 1 : 0);
  if (binds) gauges.binds.labels(id, "up").set(binds.up);
  if (binds) gauges.binds.labels(id, "missing").set(binds.of - binds.up);
  if (rate) gauges.rate.labels(id).set(rate.perSecond);
  gauges.slowed.labels(id).set(rate?.isReduced ? 1 : 0);
  if (alarm) gauges.alarm.labels(id, alarm).set(1);
}
