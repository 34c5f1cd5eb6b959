/** The store on a PostgreSQL by itself, without the interface and the channels. */
import { randomBytes, randomUUID } from "node:crypto";
import { createSystemClock } from "../../src/cli/system-clock.ts";
import type { ClaimedJob } from "../../src/core/queue/claimed-job.ts";
import { createIds } from "../../src/core/uuid.ts";
import { openPostgres } from "../../src/store/postgres/open-postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { createVault } from "../../src/store/vault.ts";
import { type Database, type Kept, openDatabase } from "./database.ts";

export const QUEUE = "queue-a";
const ACCOUNT = "a";
const CONNECTOR = "connector-a";
const LEASE_MS = 60_000;
const PER_REQUEST = 1_000;
const DAY_MS = 86_400_000;

export const clock = createSystemClock();

export interface Ground extends Database {
  readonly store: Store;
  readonly newId: () => string;
  readonly accountId: string;
}

/** @param kept absent: a database that goes with the process */
export async function openGround(kept?: Kept): Promise<Ground> {
  const database = await openDatabase(kept);
  const vault = createVault({ masterKey: "a master key of some length", randomBytes });
  const store = await openPostgres({ url: database.url, vault, clock });
  const newId = createIds(clock, randomBytes);
  const known = await store.records.find("accounts", { name: ACCOUNT });
  const accountId = known?.id ?? newId();
  const account = { id: accountId, name: ACCOUNT, mode: "live" as const, createdAt: clock.now() };
  if (!known) await store.records.create("accounts", account);
  return { ...database, store, newId, accountId };
}

/** Single messages, each with a content of its own and a key: what costs most. */
export async function accept({ store, newId, accountId }: Ground, count: number): Promise<void> {
  for (let done = 0; done < count; done += PER_REQUEST) {
    const requests = Array.from({ length: Math.min(PER_REQUEST, count - done) }, () => {
      const id = newId();
      const now = clock.now();
      return {
        accountId,
        flow: "single" as const,
        content: { channel: "sms" as const, from: "ACME", text: "your code is 123456" },
        messages: [
          {
            id,
            recipient: "+919812345678",
            status: "queued" as const,
            parts: [],
            expiresAt: now + DAY_MS,
            jobs: [{ queue: QUEUE }],
          },
        ],
        idempotency: {
          scope: accountId,
          key: randomUUID(),
          bodyDigest: "0".repeat(64),
          now,
          expiresAt: now + DAY_MS,
          answer: { status: 202, body: `{"message_id":"${id}","status":"queued","to":"+919812345678"}` },
        },
      };
    });
    await Promise.all(requests.map((request) => store.intake.accept(request)));
  }
}

/** Claims as a connector does, and settles each on its own, as its attempts end. */
export async function drain({ store }: Ground, perClaim: number): Promise<void> {
  for (;;) {
    const jobs = await claim(store, perClaim);
    if (jobs.length === 0) return;
    await Promise.all(jobs.map((job) => store.queue.settle([settlementOf(job)])));
  }
}

export function claim(store: Store, limit: number): Promise<readonly ClaimedJob[]> {
  return store.queue.claim({ queue: QUEUE, limit, now: clock.now(), leaseMs: LEASE_MS });
}

export function settlementOf({ jobId, claim, messageId }: ClaimedJob) {
  return {
    jobId,
    claim,
    messageId,
    at: clock.now(),
    connectorId: CONNECTOR,
    countsAsAttempt: true,
    outcomes: [{ kind: "sent" as const, providerMessageIds: [messageId] }],
    next: { kind: "done" as const },
    keepsContent: false,
  };
}

/** The last word on messages that were settled. */
export async function receive({ store }: Ground, messageIds: readonly string[]): Promise<void> {
  await store.receipts.record(
    messageIds.map((providerMessageId) => ({
      connectorId: CONNECTOR,
      providerMessageId,
      status: "delivered" as const,
      receivedAt: clock.now(),
    })),
  );
}
