/** One service at a time on a data folder of its own, started and stopped as an operator does it. */
import { afterEach, beforeEach, expect } from "bun:test";
import { freshDatabase } from "./postgres-database.ts";
import { type PostgresPair, startPair } from "./postgres-pair.ts";
import type { TestDatabase } from "./postgres-server.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  type StartOptions,
  startPostrider,
} from "./postrider-process.ts";

export interface OneProcess {
  /** The data folder of this test. */
  folder(): string;
  /** The service that was started last. */
  service(): PostriderProcess;
  start(options?: StartOptions): Promise<PostriderProcess>;
  /** Ends it with SIGTERM; its exit code must be 0. */
  stop(): Promise<void>;
}

/** For tests that run side by side: what it leaves running is ended with the test that owns it. `store`: see `makeDataFolder`. */
export function ownProcess(store?: "sqlite" | "postgres"): OneProcess & AsyncDisposable {
  const folder = makeDataFolder(store);
  let service: PostriderProcess | undefined;
  const current = () => {
    if (!service) throw new Error("no service was started");
    return service;
  };
  return {
    folder: () => folder.path,
    service: current,
    async start(options = {}) {
      service = await startPostrider({ dataFolder: folder.path, ...options });
      return service;
    },
    async stop() {
      current().kill("SIGTERM");
      expect(await current().exited).toBe(0);
    },
    async [Symbol.asyncDispose]() {
      service?.kill("SIGKILL");
      await service?.exited;
      folder.remove();
    },
  };
}

/** To be called where tests are defined. Each test gets a folder, and what it leaves running is ended. */
export function oneProcess(): OneProcess {
  let own: OneProcess & AsyncDisposable;
  beforeEach(() => {
    own = ownProcess();
  });
  afterEach(() => own[Symbol.asyncDispose]());
  return {
    folder: () => own.folder(),
    service: () => own.service(),
    start: (options) => own.start(options),
    stop: () => own.stop(),
  };
}

/** The same on PostgreSQL, with a database for each test. */
export function oneProcessOnPostgres(): OneProcess & { database(): TestDatabase } {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await freshDatabase();
  });

  const one = oneProcess();
  afterEach(() => database.drop());

  return { ...startingOn(one, () => database.url), database: () => database };
}

/** One of a test's own, on two servers of which one may fail. */
export async function ownProcessOnPair(): Promise<OneProcess & AsyncDisposable & { pair: PostgresPair }> {
  const pair = await startPair();
  const own = ownProcess();
  return {
    ...startingOn(own, () => pair.url),
    pair,
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await pair.close();
    },
  };
}

function startingOn(one: OneProcess, databaseUrl: () => string): OneProcess {
  return { ...one, start: (options) => one.start({ databaseUrl: databaseUrl(), ...options }) };
}
