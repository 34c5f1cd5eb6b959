/** Makes the HTTP API and the admin API from the running parts. */
import { randomBytes } from "node:crypto";
import packageJson from "../../../package.json" with { type: "json" };
import { adminEndpoints } from "../../api/admin/admin-endpoints.ts";
import { createApp } from "../../api/app.ts";
import type { AnswerRequest } from "../../api/app-deps.ts";
import type { Clock } from "../../core/clock.ts";
import { present } from "../../core/present.ts";
import { inTime } from "../../core/work/in-time.ts";
import type { Engine } from "../../delivery/engine.ts";
import { CONNECTOR_KINDS, checkConnector } from "../channels.ts";
import { createUnsubscribeByToken } from "../email/unsubscribe.ts";
import type { Listeners } from "../listeners/start-listeners.ts";
import type { Loops } from "../loops.ts";
import type { MetricsSources } from "../metrics/metrics.ts";
import { createNetwork } from "../network/network.ts";
import { createWeb } from "../network/web.ts";
import type { Parts } from "../parts.ts";
import { processName } from "../process-name.ts";
import { consoleAsset } from "./console-asset.ts";
import { docsAsset } from "./docs-asset.ts";
import type { Drain } from "./drain.ts";
import { isTrustedProxy } from "./trusted-proxies.ts";

/** A loop without a turn for this long is stuck, and the process is not ready. */
const STALLED_MS = 10_000;

/** How long the answer to a configuration change waits for the engine to apply it. */
const CONFIG_WAIT_MS = 1_000;

export interface HttpParts extends Loops {
  readonly listeners: Listeners;
  readonly baseUrl: string;
  readonly state: {
    /** Whether every listener of the process takes connections. */
    readonly isListening: () => boolean;
  } & Pick<Drain, "isLeaving" | "isDraining">;
}

export function createHttp(parts: Parts, running: HttpParts): AnswerRequest {
  const { config, clock, steadyLog: log, store, metrics, ids } = parts;
  const { engine, certificate, baseUrl, state } = running;
  const app = createApp({
    store,
    clock,
    ids,
    log,
    adminEndpoints: createAdmin(parts, running),
    metrics: () => metrics.text(metricsSources(parts, running)),
    readiness: () => readiness(parts, running),
    warnings: () => [...warningsOf(metrics.unavailable.inLastMinute()), ...certificate.warnings()],
    docsAsset,
    consoleAsset,
    consoleKey: parts.consoleKey,
    version: packageJson.version,
    serves: config.roles.has("api") ? "everything" : "probes",
    baseUrl,
    isLeaving: state.isLeaving,
    isDraining: state.isDraining,
    connectorKinds: CONNECTOR_KINDS,
    connectorStatus: engine.connectorStatus,
    unsubscribes: createUnsubscribeByToken(parts),
    web: createWeb(clock, parts.webAddress),
    readLargeJson: parts.largeBodies.readJson,
    onRequest: metrics.request,
    isTrustedProxy: (address) => isTrustedProxy(address, config.trustedProxies),
  });
  return app.fetch;
}

function metricsSources(
  { store, clock }: Parts,
  { engine, domains, webhooks, alarms, clocks, certificate }: HttpParts,
): MetricsSources {
  return {
    queue: store.queue,
    receipts: store.receipts,
    inbound: store.inbound,
    connectors: engine.connectors,
    domains: domains.counts,
    outbox: store.outbox,
    webhooks,
    alarms: alarms.alarms,
    clockAheadMs: clocks.aheadMs,
    certificate: certificate.validity,
    clock,
  };
}

/** See `AppDeps.readiness`. */
async function readiness({ config, store }: Parts, running: HttpParts): Promise<readonly string[]> {
  await store.ping();
  if (!running.state.isListening()) return ["not all listeners take connections yet"];
  const { engine, upkeep, webhooks, listeners } = running;
  const stalled = [
    ...(config.roles.has("delivery") ? engine.stalled(STALLED_MS) : []),
    ...upkeep.stalled(STALLED_MS),
    ...webhooks.stalled(STALLED_MS),
    ...listeners.stalled(STALLED_MS),
  ];
  return stalled.map((loop) => `${loop} has not turned for ${STALLED_MS / 1_000} s`);
}

/**
 * A process stays ready on a full disk. Its look-ups are answered there, and so they are of no other process that shares the
 * database: a load balancer that turned away from it would only end those too.
 */
function warningsOf(unavailable: number): readonly string[] {
  if (unavailable === 0) return [];
  return [`${unavailable} of the last minute's requests got a 503: the log says why`];
}

function createAdmin(
  { config, store, clock, ids, dns, makeDkimKeys, consoleKey, steadyLog: log }: Parts,
  { engine, webhooks, alarms }: HttpParts,
) {
  return adminEndpoints({
    store,
    clock,
    newId: ids,
    randomBytes,
    consoleKey,
    makeDkimKeys,
    connectorKinds: CONNECTOR_KINDS,
    checkConnector: (connector, domain) =>
      checkConnector(connector, clock, { network: createNetwork(dns), ...present({ domain }) }),
    connectorStatus: engine.connectorStatus,
    ...dns,
    testWebhook: webhooks.test,
    pausedWebhookHosts: () => (config.roles.has("webhooks") ? webhooks.paused() : undefined),
    ...(config.databaseUrl !== undefined && { process: processName() }),
    alarms: () => (config.roles.has("delivery") ? alarms.alarms() : undefined),
    onConfigChanged: () => applyChange(engine, clock, log),
  });
}

/** Has the engine apply a stored change. If that fails now, the engine applies it within a second by itself. */
function applyChange(engine: Engine, clock: Clock, log: Parts["steadyLog"]): Promise<void> {
  const applied = engine
    .reconcile()
    .catch((error) => log.warn({ err: error }, "the configuration could not be read"));
  return inTime(clock, { limitMs: CONFIG_WAIT_MS, late: () => {} }, applied);
}
