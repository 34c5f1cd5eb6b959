/**
 * Messages between the thread that writes and the thread that calls it. Frequent calls cross as JSON text, which costs a
 * fraction of cloning their objects. The others are cloned by `postMessage`.
 */
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { MigrationStep } from "../../on-migration.ts";
import { StoreDamaged } from "../../outage.ts";
import { RowPutOff, StoreUnavailable } from "../../store.ts";
import { isOutage } from "../database/driver.ts";

/** What a store's thread is given as its `workerData`. */
export interface ThreadSetup {
  readonly path: string;
  readonly masterKey: string;
  /** For tests and benchmarks: how many milliseconds longer every commit takes. */
  readonly commitMs?: number;
}

/** `method` is `part.method`, such as `queue.claim`; ids rise by one. */
export type Call = readonly [id: number, method: string, ...values: readonly unknown[]];

/** Methods whose arguments and answers JSON carries unchanged. */
export const PLAIN_METHODS: ReadonlySet<string> = new Set([
  "intake.accept",
  "queue.claim",
  "queue.settle",
  "queue.release",
  "receipts.record",
  "outbox.claim",
  "outbox.settle",
]);

/** A batch of calls, as JSON or as objects; or the request to close. */
export type ToThread = string | readonly Call[] | { readonly kind: "close" };

/** A string is `PlainAnswers` as JSON. */
export type FromThread =
  | string
  | { readonly kind: "migrates"; readonly migration: MigrationStep }
  | { readonly kind: "open" }
  | { readonly kind: "refused"; readonly failure: Failure }
  | Answers
  | { readonly kind: "closed" };

/** The answers of most commits: without failures. */
export type PlainAnswers = Pick<Answers, "done" | "values" | "ready" | "events" | "lanes">;

/** The answers of one commit, as a rule. */
export interface Answers {
  readonly kind: "answers";
  /** Ids of calls without an answer other than that they are done, such as a request that was accepted. */
  readonly done: readonly number[];
  readonly values: readonly (readonly [id: number, value: unknown])[];
  readonly failures: readonly (readonly [id: number, failure: Failure])[];
  /** Queues that may have got ready jobs. */
  readonly ready: readonly string[];
  /** Accounts that may have got events. */
  readonly events: readonly string[];
  /** Lanes that may have got webhooks in line. */
  readonly lanes: readonly Lane[];
}

export interface Failure {
  readonly kind: "outage" | "damage" | "row" | "bug";
  readonly message: string;
  readonly stack?: string | undefined;
}

export function toFailure(error: unknown): Failure {
  const kind = kindOf(error);
  return error instanceof Error
    ? { kind, message: error.message, stack: error.stack }
    : { kind, message: String(error) };
}

function kindOf(error: unknown): Failure["kind"] {
  if (error instanceof RowPutOff) return "row";
  if (error instanceof StoreDamaged) return "damage";
  return error instanceof StoreUnavailable || isOutage(error) ? "outage" : "bug";
}

/** An error for each caller, since callers may add to theirs. */
export function toError({ kind, message, stack }: Failure): Error {
  if (kind === "outage") return new StoreUnavailable(message);
  if (kind === "damage") return new StoreDamaged(message);
  if (kind === "row") return new RowPutOff(message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
