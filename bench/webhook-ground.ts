/** What the measurements of webhooks stand on: a data folder, its store, messages whose status changes, a receiver. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readMasterKey } from "../src/cli/keys/master-key.ts";
import { createSystemClock } from "../src/cli/system-clock.ts";
import { NOBODY_ELSE } from "../src/core/queue/claimant.ts";
import { createIds } from "../src/core/uuid.ts";
import { openSqliteStore } from "../src/store/open-store.ts";
import type { Store } from "../src/store/store.ts";
import { createWebhookEngine, type WebhookEngine } from "../src/webhooks/webhook-engine.ts";
import { hooksTls } from "../test/fakes/hooks-tls.ts";
import { makeDataFolder, startPostrider } from "../test/postrider-process.ts";

export const clock = createSystemClock();
const newId = createIds(clock, randomBytes);
const QUEUE = "bench";
const BATCH = 1_000;

export interface Ground {
  readonly store: Store;
  readonly accountId: string;
  readonly dataFolder: string;
  /** Closes the store; the folder stays. */
  close(): Promise<void>;
  remove(): void;
}

/** A first start makes the account, its key and its secret; from then on the store is ours. */
export async function openGround(): Promise<Ground> {
  const folder = makeDataFolder();
  const service = await startPostrider({ dataFolder: folder.path });
  const { account_id: accountId } = service.sandbox;
  service.kill("SIGTERM");
  await service.exited;
  const masterKey = readMasterKey(folder.path, undefined);
  const store = await openSqliteStore({ dataFolder: folder.path, masterKey, randomBytes, now: Date.now });
  await store.records.setSettings(undefined, { webhook_allowed_ranges: "127.0.0.0/8" });
  await store.records.setSettings(undefined, { webhook_ca: hooksTls.ca });
  return { store, accountId, dataFolder: folder.path, close: store.close, remove: folder.remove };
}

/** Accepts messages, one URL for each thousand, and settles them as sent: one event each. */
export async function makeEvents(
  { store, accountId }: Pick<Ground, "store" | "accountId">,
  { count, urlOf }: { readonly count: number; readonly urlOf: (batch: number) => string },
): Promise<void> {
  for (let made = 0; made < count; made += BATCH) {
    const size = Math.min(BATCH, count - made);
    await accept({ store, accountId }, size, urlOf(made / BATCH));
    await settleAll(store);
  }
}

export async function accept(
  { store, accountId }: Pick<Ground, "store" | "accountId">,
  count: number,
  callbackUrl: string,
): Promise<void> {
  const expiresAt = clock.now() + 86_400_000;
  await store.intake.accept({
    accountId,
    flow: count > 1 ? "batch" : "single",
    content: { channel: "sms", from: "ACME", callbackUrl, metadata: { order: "4711" } },
    messages: Array.from({ length: count }, (_, index) => ({
      id: newId(),
      recipient: `+91${9_000_000_000 + index}`,
      status: "queued" as const,
      parts: [],
      expiresAt,
      jobs: [{ queue: QUEUE }],
    })),
  });
}

export async function settleAll(store: Store): Promise<void> {
  const jobs = await store.queue.claim({ queue: QUEUE, limit: BATCH, now: clock.now(), leaseMs: 60_000 });
  const at = clock.now();
  await store.queue.settle(
    jobs.map(({ jobId, claim, messageId }) => ({
      jobId,
      claim,
      messageId,
      at,
      connectorId: QUEUE,
      countsAsAttempt: true,
      outcomes: [{ kind: "sent" as const, providerMessageIds: [messageId] }],
      next: { kind: "done" as const },
      keepsContent: false,
    })),
  );
}

/** Every name leads to this machine, and no name server is asked. */
export function openEngine(store: Store): WebhookEngine {
  const quiet = () => {};
  return createWebhookEngine({
    outbox: store.outbox,
    records: store.records,
    claimant: () => NOBODY_ELSE,
    clock,
    random: Math.random,
    openResolver: () => ({ resolve4: async () => ["127.0.0.1"], resolve6: async () => [] }),
    log: { isDebug: () => false, debug: quiet, info: quiet, warn: console.error, error: console.error },
    observe: quiet,
  });
}

export interface Received {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Receiver {
  readonly hooks: number;
  /** Takes connections, and never answers. */
  readonly silent: number;
  /** Costs it nothing. */
  count(): Promise<number>;
  received(): Promise<Received>;
  reset(): Promise<void>;
  end(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "webhook-receiver.ts")], {
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  const { hooks, told, silent } = JSON.parse(new TextDecoder().decode(value));
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${told}${path}`)).json();
  return {
    hooks,
    silent,
    count: () => ask("/count") as Promise<number>,
    received: () => ask("/") as Promise<Received>,
    reset: async () => void (await ask("/reset")),
    end: () => child.kill(),
  };
}
