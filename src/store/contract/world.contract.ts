/** The ground the contract's tests stand on: an empty store with an account in it, and short ways to use it. */
import { randomBytes } from "node:crypto";
import type { Idempotency, NewJob } from "../../core/messages/accept-request.ts";
import type { ChannelName, Content, Part, StoredMessage } from "../../core/messages/message.ts";
import type { PartOutcome, Receipt } from "../../core/messages/outcome.ts";
import type { ClaimedJob, Settlement } from "../../core/queue/claimed-job.ts";
import type { Account } from "../../core/records/accounts.ts";
import { createIds } from "../../core/uuid.ts";
import type { Store } from "../store.ts";

/** Opens an empty store; the test closes it. */
export type OpenStore = () => Promise<{ readonly store: Store; readonly inside: Inside }>;

/** What no use case shows, or does. */
export interface Inside {
  hasBody(messageId: string): boolean | Promise<boolean>;
  /** Rows of any table that belong to the message. */
  countRows(messageId: string): number | Promise<number>;
  /** Runs a statement that both engines know, to damage what no use case does. */
  change(sql: string): unknown;
  /**
   * Makes the table refuse to delete, or to change, rows for which a condition on `OLD` holds, or to store rows for which one on `NEW` does,
   * until it is called. Once for a table.
   */
  refuse(
    what: "DELETE" | "UPDATE" | "INSERT",
    table: string,
    condition: string,
  ): Promise<() => Promise<void>>;
}

export const SECOND = 1_000;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const QUEUE = "queue-a";
export const CONNECTOR = "connector-a";

export interface World {
  readonly store: Store;
  readonly inside: Inside;
  readonly account: Account;
  /** The time of everything that is done next; tests move it. */
  readonly clock: { now: number };
  id(): string;
  addAccount(): Promise<Account>;
  /** Accepts one SMS per entry of `to`, and gives their ids. */
  sms(order?: SmsOrder): Promise<string[]>;
  email(order: { parts: readonly Part[]; jobs: readonly NewJob[]; callbackUrl?: string }): Promise<string>;
  key(key: string, over?: Partial<Idempotency>): Idempotency;
  claim(limit?: number, queue?: string): Promise<readonly ClaimedJob[]>;
  claimOne(): Promise<ClaimedJob>;
  settle(job: ClaimedJob, over?: Partial<Settlement>): Promise<boolean>;
  receive(providerMessageId: string, over?: Partial<Receipt>): ReturnType<Store["receipts"]["record"]>;
  message(id: string, channel?: ChannelName): Promise<StoredMessage>;
  status(id: string, channel?: ChannelName): Promise<string>;
  history(id: string, channel?: ChannelName): Promise<readonly string[]>;
}

export interface SmsOrder {
  readonly account?: Account;
  readonly to?: readonly string[];
  readonly flow?: "single" | "batch";
  readonly queue?: string;
  readonly content?: Partial<Content>;
  readonly expiresAt?: number;
  readonly dueAt?: number;
  readonly idempotency?: Idempotency & { answer: { status: number; body: string } };
}

export const SMS: Content = {
  channel: "sms",
  templateId: "t-1",
  from: "ACME",
  text: "code {#var#}",
  tags: ["otp"],
};

export function sent(...providerMessageIds: string[]): PartOutcome {
  return { kind: "sent", providerMessageIds };
}

export function deferred(code = "smpp.0x00000058"): PartOutcome {
  return { kind: "deferred", error: { code, message: "throttled" } };
}

export function unconfirmed(code = "smpp.no_answer"): PartOutcome {
  return { kind: "unconfirmed", error: { code, message: "no answer" } };
}

/**
 * What a call is rejected with. (`expect(…).rejects` holds the event loop until the promise settles, and no answer
 * of another thread comes in meanwhile.)
 */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    return error;
  }
  throw new Error(`it was not rejected but gave ${JSON.stringify(value)}`);
}

/** What has happened so far can be read in the feed. */
export async function numberAll({ store }: Pick<World, "store">): Promise<void> {
  while ((await store.feed.numberEvents(100)) > 0);
}

/** Runs a test in a world of its own, and closes its store whatever happens. */
export function inWorld(open: OpenStore, run: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const { store, inside } = await open();
    try {
      await run({ ...(await createWorld(store)), inside });
    } finally {
      await store.close();
    }
  };
}

export async function createWorld(store: Store): Promise<Omit<World, "inside">> {
  const clock = { now: Date.UTC(2026, 0, 15, 12) };
  const id = createIds({ now: () => clock.now }, randomBytes);
  const addAccount = async () => {
    const account: Account = { id: id(), name: "acme", mode: "live", createdAt: clock.now };
    await store.records.create("accounts", account);
    return account;
  };
  const account = await addAccount();
  const world = { store, clock, id, account, addAccount };
  return { ...world, ...acceptWays(world), ...queueWays(store, clock), ...readWays(store, account) };
}

type Ground = Pick<World, "store" | "clock" | "id" | "account">;

function acceptWays({ store, clock, id, account }: Ground): Pick<World, "sms" | "email" | "key"> {
  return {
    async sms(order = {}) {
      const {
        to = ["+919812345678"],
        expiresAt = clock.now + DAY,
        dueAt,
        queue = QUEUE,
        idempotency,
      } = order;
      const messages = to.map((recipient) => ({
        id: id(),
        recipient,
        status: dueAt === undefined ? ("queued" as const) : ("scheduled" as const),
        parts: [],
        expiresAt,
        ...(dueAt !== undefined && { dueAt }),
        jobs: [{ queue }],
      }));
      await store.intake.accept({
        accountId: (order.account ?? account).id,
        flow: order.flow ?? (to.length > 1 ? "batch" : "single"),
        content: { ...SMS, ...order.content } as Content,
        messages,
        ...(idempotency && { idempotency }),
      });
      return messages.map((message) => message.id);
    },
    async email({ parts, jobs, callbackUrl }) {
      const message = { id: id(), recipient: "", status: "queued" as const, parts, jobs };
      const to = parts.map((part) => ({ email: part.address ?? "" }));
      const from = { email: "a@acme.test" };
      const written = { from, to, subject: "hi", bodyText: "secret", ...(callbackUrl && { callbackUrl }) };
      await store.intake.accept({
        accountId: account.id,
        flow: "single",
        content: { channel: "email", ...written },
        messages: [{ ...message, expiresAt: clock.now + DAY }],
      });
      return message.id;
    },
    key: (key, over = {}) => ({
      scope: "key-1 sms",
      key,
      bodyDigest: "d".repeat(64),
      now: clock.now,
      expiresAt: clock.now + DAY,
      ...over,
    }),
  };
}

function queueWays(
  store: Store,
  clock: World["clock"],
): Pick<World, "claim" | "claimOne" | "settle" | "receive"> {
  const claim: World["claim"] = (limit = 10, queue = QUEUE) =>
    store.queue.claim({ queue, limit, now: clock.now, leaseMs: 60 * SECOND });
  return {
    claim,
    async claimOne() {
      const [job] = await claim(1);
      if (!job) throw new Error("no job is ready");
      return job;
    },
    async settle(job, over = {}) {
      const [isOurs] = await store.queue.settle([
        {
          jobId: job.jobId,
          claim: job.claim,
          messageId: job.messageId,
          at: clock.now,
          connectorId: CONNECTOR,
          countsAsAttempt: true,
          outcomes: [sent(`p-${job.messageId}`)],
          next: { kind: "done" },
          keepsContent: false,
          ...over,
        },
      ]);
      return isOurs ?? false;
    },
    receive: (providerMessageId, over = {}) =>
      store.receipts.record([
        {
          connectorId: CONNECTOR,
          providerMessageId,
          status: "delivered",
          receivedAt: clock.now,
          ...over,
        },
      ]),
  };
}

function readWays(store: Store, account: Account): Pick<World, "message" | "status" | "history"> {
  const message: World["message"] = async (id, channel = "sms") => {
    const found = await store.messages.find({ accountId: account.id, channel, id });
    if (!found) throw new Error("no such message");
    return found;
  };
  return {
    message,
    status: async (id, channel) => (await message(id, channel)).progress.status,
    async history(id, channel = "sms") {
      const entries = await store.messages.timeline({ accountId: account.id, channel, id });
      return (entries ?? []).map((entry) => `${entry.kind}:${entry.status}`);
    },
  };
}
