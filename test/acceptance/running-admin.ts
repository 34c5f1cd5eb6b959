/** The admin API on a real socket and a real store. Tests set what DNS and connectors answer. */
import { afterAll, describe } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import Type from "typebox";
import { adminEndpoints } from "../../src/api/admin/admin-endpoints.ts";
import { createApp } from "../../src/api/app.ts";
import type { ChannelStatus, ConnectorKind } from "../../src/channels/channel.ts";
import { smtpConnectorKind } from "../../src/channels/email/smtp/smtp-connector.ts";
import { smppConnectorKind } from "../../src/channels/sms/smpp/smpp-connector.ts";
import { createIds } from "../../src/core/uuid.ts";
import type { Store } from "../../src/store/store.ts";
import { createHeldClock, type HeldClock } from "../fakes/held-clock.ts";
import { keptDkimKeys } from "../fakes/kept-dkim-keys.ts";
import { STORES } from "./stores.ts";

export const ADMIN_TOKEN = "pr_admin_test";
export const CONSOLE_PASSWORD = "the console's password";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look where they like
  readonly json: any;
}

export interface RunningAdmin extends AsyncDisposable {
  readonly url: string;
  readonly store: Store;
  readonly clock: HeldClock;
  /** The account that the first start made. */
  readonly accountId: string;
  /** The DNS, by name. Other names get ENOTFOUND; an Error is thrown. */
  readonly dns: Map<string, readonly string[] | Error>;
  readonly statuses: Map<string, ChannelStatus>;
  /** The result of the next test of a connector. */
  check: { ok: boolean; detail: string };
  /** How often the API reported a change of the configuration. */
  configChanges(): number;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** A kind with a field of every type. */
const testKind: ConnectorKind = {
  kind: "test",
  channel: "sms",
  config: Type.Object({
    host: Type.String({ minLength: 1 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 99 }),
    use_tls: Type.Boolean({ default: false }),
    flavour: Type.Union([Type.Literal("plain"), Type.Literal("rich")], { default: "plain" }),
    hosts: Type.Optional(Type.Array(Type.String())),
    extra: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
  secrets: { password: "Password of the test" },
  open: () => {
    throw new Error("the admin API opens nothing");
  },
  check: async () => ({ ok: true, detail: "" }),
};

/** Puts something between the API and the store. */
export type Wrap = (store: Store) => Store;

/** Runs the tests of `define` against the admin API on every store; `start` opens a fresh one. */
export function onEveryAdmin(define: (start: (wrap?: Wrap) => Promise<RunningAdmin>) => void): void {
  for (const [name, open] of Object.entries(STORES)) {
    describe(name, () => define(async (wrap = (store) => store) => startAdmin(wrap(await open()))));
  }
}

export interface SharedAdmin {
  readonly admin: RunningAdmin;
  /** Id of a live account. */
  readonly live: string;
}

/** The same for tests that share one admin API on each store: `start` is called once, before them. */
export function onSharedAdmin(define: (start: () => Promise<SharedAdmin>) => void): void {
  onEveryAdmin((startAdmin) => {
    let admin: RunningAdmin | undefined;
    define(async () => {
      admin = await startAdmin();
      const account = await admin.call("POST", "accounts", { name: "Acme", mode: "live" });
      return { admin, live: account.json.id };
    });
    afterAll(() => admin?.[Symbol.asyncDispose]());
  });
}

async function startAdmin(store: Store): Promise<RunningAdmin> {
  const clock = createHeldClock();
  const newId = createIds(clock, randomBytes);
  const consoleKey = randomBytes(32);
  const accountId = newId();
  await bootstrap(store, { accountId, newId, now: clock.now() });
  const dns: RunningAdmin["dns"] = new Map();
  const statuses: RunningAdmin["statuses"] = new Map();
  const look = async (name: string) => {
    const found = dns.get(name);
    if (found instanceof Error) throw found;
    if (!found) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    return found;
  };
  let configChanges = 0;
  const endpoints = adminEndpoints({
    store,
    clock,
    newId,
    randomBytes,
    consoleKey,
    makeDkimKeys: keptDkimKeys(),
    connectorKinds: [smppConnectorKind, smtpConnectorKind, testKind],
    checkConnector: async () => admin.check,
    connectorStatus: (id) => statuses.get(id),
    resolveTxt: async (name) => (await look(`TXT ${name}`)).map((text) => text.match(/.{1,255}/g) ?? []),
    resolveMx: async (name) => (await look(`MX ${name}`)).map((exchange) => ({ exchange, priority: 10 })),
    resolveCname: (name) => look(`CNAME ${name}`),
    testWebhook: async () => ({ at: clock.now(), ms: 3, status: 200, head: "ok" }),
    pausedWebhookHosts: () => [],
    alarms: () => [],
    onConfigChanged: async () => void configChanges++,
  });
  const app = createApp({
    store,
    clock,
    ids: newId,
    log: {
      isDebug: () => false,
      debug: () => {},
      warn: () => {},
      error: (fields) => process.stderr.write(`${fields.error}\n`),
    },
    adminEndpoints: endpoints,
    metrics: async () => "# EOF\n",
    readiness: async () => [],
    docsAsset: async () => undefined,
    consoleKey,
    version: "1.2.3",
    baseUrl: "http://127.0.0.1",
    isLeaving: () => false,
    isDraining: () => false,
    // Tests come from other addresses than their own by saying so.
    isTrustedProxy: (address) => address === "127.0.0.1",
    onRequest: () => {},
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => app.fetch(request, () => "127.0.0.1"),
  });
  const url = `http://127.0.0.1:${server.port}`;
  const admin: RunningAdmin = {
    url,
    store,
    clock,
    accountId,
    dns,
    statuses,
    check: { ok: true, detail: "bound" },
    configChanges: () => configChanges,
    async call(method, path, body, headers = {}) {
      const response = await fetch(`${url}/admin/v1/${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${ADMIN_TOKEN}`,
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        json: text ? JSON.parse(text) : undefined,
      };
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await store.close();
    },
  };
  return admin;
}

async function bootstrap(
  store: Store,
  { accountId, newId, now }: { accountId: string; newId: () => string; now: number },
): Promise<void> {
  await store.access.bootstrap({
    account: { id: accountId, name: "Sandbox", mode: "sandbox", createdAt: now },
    apiKey: { id: newId(), accountId, prefix: "pr_live_0000", digest: "0".repeat(64), createdAt: now },
    pushApp: { id: newId(), accountId, name: "App", platforms: ["apns"], createdAt: now },
    webhookSecret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    adminTokenDigest: createHash("sha256").update(ADMIN_TOKEN).digest("hex"),
    consolePasswordDigest: createHash("sha256").update(CONSOLE_PASSWORD).digest("hex"),
  });
}
