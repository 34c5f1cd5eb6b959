import { describe } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { createApp } from "../../src/api/app.ts";
import type { ApiLimits, AppDeps, ObservedRequest } from "../../src/api/app-deps.ts";
import type { AccountMode, RecordKind, RecordTypes } from "../../src/core/records/accounts.ts";
import { makeApiKey } from "../../src/core/records/api-key.ts";
import { createIds } from "../../src/core/uuid.ts";
import type { Store } from "../../src/store/store.ts";
import { createHeldClock, type HeldClock } from "../fakes/held-clock.ts";
import { STORES } from "./stores.ts";

/** Runs the tests of `define` against the interface on every store; `start` opens a fresh one. */
export function onEveryStore(define: (start: (options?: ApiOptions) => Promise<RunningApi>) => void): void {
  for (const [name, open] of Object.entries(STORES)) {
    describe(name, () =>
      define(async (options) => {
        const clock = createHeldClock();
        return startApi(await open(clock.now), clock, options);
      }),
    );
  }
}

export interface ApiOptions {
  readonly deps?: Partial<AppDeps>;
  readonly limits?: Partial<ApiLimits>;
  /** Replaces the store that the app sees, to let it fail. */
  readonly over?: (store: Store) => AppDeps["store"];
}

export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly key: string;
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string | undefined;
  /** Sent as it is when it is text, as JSON otherwise. */
  readonly body?: unknown;
  readonly method?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look where they like
  readonly json: any;
}

export interface RunningApi extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly clock: HeldClock;
  readonly caller: Caller;
  readonly observed: ObservedRequest[];
  readonly logged: { level: string; fields: Record<string, unknown>; message: string }[];
  request(path: string, sent?: Sent): Promise<Answer>;
  post(path: string, body: unknown, sent?: Sent): Promise<Answer>;
  get(path: string, sent?: Sent): Promise<Answer>;
  newAccount(mode: AccountMode): Promise<Caller>;
  newKey(accountId: string): Promise<Caller>;
  add<K extends RecordKind>(
    kind: K,
    record: Omit<RecordTypes[K], "id" | "createdAt">,
  ): Promise<RecordTypes[K]>;
}

async function startApi(
  store: Store,
  clock: HeldClock,
  { deps = {}, limits = {}, over }: ApiOptions = {},
): Promise<RunningApi> {
  const ids = createIds(clock, randomBytes);
  const observed: ObservedRequest[] = [];
  const logged: RunningApi["logged"] = [];
  const app = createApp({
    store: over ? over(store) : store,
    clock,
    ids,
    log: {
      isDebug: () => true,
      debug: (fields, message) => void logged.push({ level: "debug", fields, message }),
      warn: (fields, message) => void logged.push({ level: "warn", fields, message }),
      error: (fields, message) => void logged.push({ level: "error", fields, message }),
    },
    adminEndpoints: [],
    metrics: async () => "# EOF\n",
    readiness: async () => {
      await store.ping();
      return [];
    },
    docsAsset: async (name) => (name === "swagger-ui.css" ? new TextEncoder().encode("a{}") : undefined),
    version: "1.2.3",
    baseUrl: "http://127.0.0.1:8080",
    isLeaving: () => false,
    isDraining: () => false,
    onRequest: (request) => void observed.push(request),
    limits,
    ...deps,
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // It would hang up on who hears or says nothing for ten seconds of real time, while the clock of the test stands still.
    idleTimeout: 0,
    fetch: (request, self) => app.fetch(request, () => self.requestIP(request)?.address ?? ""),
  });

  const add: RunningApi["add"] = async (kind, record) => {
    const whole = { id: ids(), createdAt: clock.now(), ...record } as unknown as RecordTypes[typeof kind];
    const result = await store.records.create(kind, whole);
    if (result !== "created") throw new Error(`${kind}: ${result.conflict} is taken or missing`);
    return whole;
  };
  const newKey = async (accountId: string) => {
    const key = makeApiKey(randomBytes);
    const digest = createHash("sha256").update(key).digest("hex");
    const { id } = await add("apiKeys", { accountId, prefix: key.slice(0, 12), digest });
    return { accountId, keyId: id, key };
  };
  const newAccount = async (mode: AccountMode) => newKey((await add("accounts", { name: mode, mode })).id);
  const caller = await newAccount("sandbox");

  const request = async (path: string, { headers = {}, key, body, method = "GET" }: Sent = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body !== undefined && { body: asBody(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  };

  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port!,
    store,
    clock,
    caller,
    observed,
    logged,
    request,
    post: (path, body, sent) => request(path, { method: "POST", key: caller.key, body, ...sent }),
    get: (path, sent) => request(path, { key: caller.key, ...sent }),
    newAccount,
    newKey,
    add,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await store.close();
    },
  };
}

function asBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array
    ? (body as Uint8Array<ArrayBuffer>)
    : JSON.stringify(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
