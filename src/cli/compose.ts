/** The composition root: makes every part, starts them in order and stops them in reverse. */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import packageJson from "../../package.json" with { type: "json" };
import { adminEndpoints } from "../api/admin/admin-endpoints.ts";
import { createApp } from "../api/app.ts";
import type { ConnectorKind } from "../channels/channel.ts";
import type { Clock } from "../core/clock.ts";
import type { Dns } from "../core/dns.ts";
import { createIds } from "../core/uuid.ts";
import type { AlarmWatch } from "../delivery/alarm-watch.ts";
import { createDomainWatch, type DomainWatch } from "../delivery/check-domains.ts";
import { createEngine, type DeliveryLog, type Engine } from "../delivery/engine.ts";
import { createLateAnswers } from "../delivery/late-answers.ts";
import { overdueChore } from "../delivery/overdue-receipts.ts";
import { createUpkeep, type Upkeep } from "../delivery/upkeep.ts";
import { openStore } from "../store/open-store.ts";
import { createLockMemory } from "../store/sqlite/write-lock.ts";
import type { Store } from "../store/store.ts";
import type { WebhookEngine } from "../webhooks/webhook-engine.ts";
import { createAlarms } from "./alarms.ts";
import { openBounces } from "./bounces.ts";
import { BUILT_IN, CONNECTOR_KINDS, openChannel } from "./channels.ts";
import type { Config } from "./config.ts";
import { ensureDataFolder, readMasterKey } from "./data-folder.ts";
import { createDns } from "./dns.ts";
import { docsAsset } from "./docs-asset.ts";
import { firstStart, type Sandbox } from "./first-start.ts";
import { type Fetch, listen } from "./listen.ts";
import { createListeners, type Listeners, type ListenersOptions } from "./listeners/start-listeners.ts";
import { createMailKeys, type MailKeys } from "./mail-keys.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { createNetwork } from "./network.ts";
import { createPublicUrl } from "./public-url.ts";
import { createSenderDomains } from "./sender-domains.ts";
import { isTrustedProxy } from "./trusted-proxies.ts";
import { createUnsubscribeByToken, createUnsubscribeHeaders } from "./unsubscribe.ts";
import { watchReceipts } from "./watch-receipts.ts";
import { createWeb } from "./web.ts";
import { createWebhooks } from "./webhooks.ts";

/** A loop that has not turned for so long is stuck, and the process not ready. */
const STALLED_MS = 10_000;

export interface Postrider {
  /** Where it listens. */
  readonly url: string;
  /** Where mail that comes back is taken, if it is. */
  readonly bouncePort?: number;
  /** Set on the first start on an empty database. */
  readonly sandbox?: Sandbox;
  /** Stops accepting, finishes what is in flight, closes the database; within 20 s. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** For benchmarks: every commit takes so many milliseconds longer. */
  readonly faults?: { readonly commitMs: number };
}

/** Starts the service. Rejects, with nothing left running, when a part cannot start. */
export async function startPostrider(options: StartOptions): Promise<Postrider> {
  const { config, clock, log } = options;
  ensureDataFolder(config.dataFolder);
  const lockMemory = createLockMemory();
  const store = await openData(options, lockMemory);
  const metrics = createMetrics();
  const listeners = openListeners(options, { memory: lockMemory, onRequest: metrics.request });
  const parts: Parts = {
    config,
    clock,
    log,
    store: {
      ...store,
      queue: listeners.heard(store.queue),
      inbound: metrics.inbound.counted(store.inbound),
    },
    metrics,
    ids: createIds(clock, randomBytes),
    dns: createDns(store.records, clock),
    mailKeys: createMailKeys(readMasterKey(config.dataFolder, config.secret)),
  };
  const gate = createGate();
  try {
    const isShared = config.roles.has("api") && config.listeners > 1;
    const listener = listen({ ...config, ...(isShared && { sharing: "first" }) }, clock, gate.fetch);
    const sandbox = await firstStart({
      ...parts,
      randomBytes,
      now: clock.now(),
      baseUrl: listener.url,
      dataFolder: config.dataFolder,
    });
    const engine = createDelivery(parts);
    const domains = createDomainWatch({ records: store.records, dns: parts.dns, log: deliveryLog(log) });
    const upkeep = createUpkeep({
      store: store.upkeep,
      clock,
      log: deliveryLog(log),
      chores: [domains.chore, overdueChore(store)],
    });
    const webhooks = createWebhooks({ ...parts, log: deliveryLog(log) });
    const alarms = createAlarms({ store, clock, log: deliveryLog(log), engine });
    const { isDraining } = gate;
    const seen = { ...parts, store: watchReceipts(parts.store, engine.noteReceipts) };
    const running = { engine, upkeep, domains, webhooks, alarms, listeners };
    gate.open(createHttp(seen, { ...running, baseUrl: listener.url, isDraining }));
    if (isShared) await listeners.start(Number(new URL(listener.url).port), gate.fetch);
    const bounces = await openBounces(seen);
    if (config.roles.has("delivery")) await engine.start().then(alarms.start);
    if (config.roles.has("upkeep")) upkeep.start();
    if (config.roles.has("webhooks")) webhooks.start();
    const stop = async () => {
      gate.drain();
      await listeners.stop();
      await Promise.all([
        listener.stop(),
        bounces?.stop(),
        engine.stop(),
        upkeep.stop(),
        webhooks.stop(),
        alarms.stop(),
      ]);
      await store.close();
    };
    const bouncePort = bounces && { bouncePort: bounces.port };
    return { url: listener.url, ...bouncePort, ...(sandbox && { sandbox }), stop };
  } catch (error) {
    await listeners.stop();
    await store.close();
    throw error;
  }
}

function openData({ config, clock, log, faults }: StartOptions, memory: SharedArrayBuffer): Promise<Store> {
  const { dataFolder, secret } = config;
  const thread = {
    program: new URL("./store-thread.ts", import.meta.url),
    clock,
    onLost: (error: Error) => endProcess(error, log),
  };
  const masterKey = readMasterKey(dataFolder, secret);
  return openStore({
    dataFolder,
    masterKey,
    randomBytes,
    ...faults,
    ...(config.hasStoreThread && { thread }),
    ...(config.listeners > 1 && { shared: { memory, share: { index: 0, of: config.listeners } } }),
  });
}

function openListeners(
  { config, clock, log }: StartOptions,
  parts: Pick<ListenersOptions, "memory" | "onRequest">,
): Listeners {
  const { host, tls, dataFolder, secret, logLevel, trustedProxies } = config;
  return createListeners({
    ...parts,
    count: config.listeners - 1,
    clock,
    setup: {
      host,
      ...(tls && { tls }),
      dataFolder,
      masterKey: readMasterKey(dataFolder, secret),
      logLevel,
      trustedProxies: trustedProxies.map(([address, bits]) => `${address.toString()}/${bits}`),
    },
    onLost: (error) => endProcess(error, log),
  });
}

/** Nothing can be stored any more, and everything that was promised is on disk: another start heals. */
function endProcess(error: Error, log: Logger): void {
  log.fatal({ err: error }, "a thread ended by itself");
  process.exit(1);
}

interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly ids: () => string;
  readonly dns: Dns;
  readonly mailKeys: MailKeys;
}

function createDelivery({ clock, log, store, metrics, ids, dns, mailKeys }: Parts): Engine {
  const network = createNetwork(dns);
  const watched = watchReceipts(store, (...seen) => engine.noteReceipts(...seen));
  const engine: Engine = createEngine({
    queue: store.queue,
    receipts: store.receipts,
    records: store.records,
    open: (connector, listeners) =>
      openChannel(
        connector,
        {
          clock,
          random: Math.random,
          log,
          ...listeners,
          onReceipts: async (receipts) => void (await watched.queue.recordReceipts(receipts)),
          onInbound: async (messages) =>
            void (await store.inbound.receive(messages.map((one) => ({ ...one, id: ids() })))),
          onLateAnswer: createLateAnswers({ receipts: store.receipts, clock, log }),
          publicUrl: createPublicUrl(store.records, clock),
          network,
          returnPaths: mailKeys.returnPaths,
        },
        store.sandbox,
      ),
    findSenderDomain: createSenderDomains(store.records, clock),
    suppressions: store.suppressions,
    unsubscribeHeaders: createUnsubscribeHeaders(mailKeys, createPublicUrl(store.records, clock)),
    clock,
    random: Math.random,
    log: deliveryLog(log),
    observe: metrics.observe,
    builtIn: BUILT_IN,
  });
  return engine;
}

interface HttpParts {
  readonly engine: Engine;
  readonly upkeep: Upkeep;
  readonly domains: DomainWatch;
  readonly webhooks: WebhookEngine;
  readonly alarms: AlarmWatch;
  readonly listeners: Listeners;
  readonly baseUrl: string;
  readonly isDraining: () => boolean;
}

function createHttp(
  parts: Parts,
  { engine, upkeep, domains, webhooks, alarms, listeners, baseUrl, isDraining }: HttpParts,
): Fetch {
  const { config, clock, log, store, metrics, ids, dns } = parts;
  const stalled = () => [
    ...(config.roles.has("delivery") ? engine.stalled(STALLED_MS) : []),
    ...(config.roles.has("upkeep") ? upkeep.stalled(STALLED_MS) : []),
    ...webhooks.stalled(STALLED_MS),
    ...listeners.stalled(STALLED_MS),
  ];
  const app = createApp({
    store,
    clock,
    ids,
    log: {
      isDebug: () => log.isLevelEnabled("debug"),
      debug: (...line) => log.debug(...line),
      error: (...line) => log.error(...line),
    },
    adminEndpoints: adminEndpoints({
      store,
      clock,
      newId: ids,
      randomBytes,
      connectorKinds: CONNECTOR_KINDS,
      checkConnector: (connector) => kindOf(connector.kind).check(connector, clock),
      connectorStatus: engine.connectorStatus,
      ...dns,
      testWebhook: webhooks.test,
      pausedWebhookHosts: webhooks.paused,
      alarms: alarms.alarms,
      onConfigChanged: () =>
        void engine
          .reconcile()
          .catch((error) => log.warn({ err: error }, "the configuration could not be read")),
    }),
    metrics: () =>
      metrics.text({
        upkeep: store.upkeep,
        receipts: store.receipts,
        inbound: store.inbound,
        connectors: engine.connectors,
        domains: domains.counts,
        webhooks: { outbox: store.outbox, engine: webhooks },
        alarms: alarms.alarms,
        now: clock.now,
      }),
    readiness: async () => {
      await store.ping();
      return stalled().map((loop) => `${loop} has not turned for ${STALLED_MS / 1_000} s`);
    },
    docsAsset,
    version: packageJson.version,
    serves: config.roles.has("api") ? "everything" : "probes",
    baseUrl,
    isDraining,
    connectorKinds: CONNECTOR_KINDS,
    connectorStatus: engine.connectorStatus,
    unsubscribes: createUnsubscribeByToken(parts),
    web: createWeb(clock),
    onRequest: metrics.request,
    isTrustedProxy: (address) => isTrustedProxy(address, config.trustedProxies),
  });
  return app.fetch;
}

function kindOf(kind: string): ConnectorKind {
  const found = CONNECTOR_KINDS.find((each) => each.kind === kind);
  if (!found) throw new Error(`there is no connector kind ${kind}`);
  return found;
}

function deliveryLog(log: Logger): DeliveryLog {
  return {
    isDebug: () => log.isLevelEnabled("debug"),
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  };
}

/** Requests that come before the parts are ready, or while they stop, are told to come back. */
function createGate() {
  let open: Fetch | undefined;
  let isDraining = false;
  const closed = async () =>
    Response.json(
      { code: 503, message: "service unavailable" },
      { status: 503, headers: { "Retry-After": "1" } },
    );
  return {
    fetch: ((request, addressOf) => (open ? open(request, addressOf) : closed())) satisfies Fetch,
    open(fetch: Fetch) {
      open = fetch;
    },
    drain() {
      isDraining = true;
    },
    isDraining: () => isDraining,
  };
}
