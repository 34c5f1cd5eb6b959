import { type Clock, type Random, sleep } from "../../core/clock.ts";
import type { MessageError } from "../../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../../core/messages/outcome.ts";
import type { SandboxEntry } from "../../core/messages/sandbox-entry.ts";
import type { OutgoingMessage } from "../channel.ts";
import { type EntryWriter, WRITE_LIMIT_MS, type Written } from "./entry-writer.ts";
import type { RefusalCounts } from "./refusal-counts.ts";
import { renderEmail } from "./render-email.ts";
import { renderSms } from "./render-sms.ts";
import { type Target, targetsOf } from "./targets.ts";

export interface AttemptDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: () => string;
  readonly writer: EntryWriter;
  readonly counts: RefusalCounts;
}

/** What is put off a counted number of times comes again soon. */
const SHORT_WAIT_MS = 250;

/** What is never taken comes again ever more rarely, so that a day's window does not fill a timeline. */
const NEVER_WAIT_MS = { shortest: 1_000, longest: 15 * 60_000 };

/** Receipts come after this, evenly spread. */
const RECEIPT_DELAY_MS = { shortest: 100, longest: 500 };

export interface AttemptSignals {
  /** Stop waiting, whatever for. */
  readonly signal: AbortSignal;
  /** Begin nothing that takes long. */
  readonly stopping: AbortSignal;
}

/** One message from beginning to outcome. `sent` is answered only after the ledger has it durably. */
export async function attempt(
  deps: AttemptDeps,
  message: OutgoingMessage,
  { signal, stopping }: AttemptSignals,
): Promise<SendOutcome> {
  const targets = targetsOf(message);
  const answerMs = Math.max(0, ...targets.map(({ scenario }) => scenario.answerMs ?? 0));
  if (answerMs > 0) await sleep(deps.clock, answerMs, AbortSignal.any([signal, stopping]));
  const isBrokenOff = signal.aborted || (answerMs > 0 && stopping.aborted);
  if (isBrokenOff) return toOutcome(message, putOffAll(targets, BROKEN_OFF));
  const judged = targets.map((target) => ({ target, refusal: judge(deps, message, target) }));
  const taken = judged.flatMap(({ target, refusal }) => (refusal ? [] : [target]));
  const refused = judged.flatMap(({ target, refusal }) =>
    refusal ? [[target.index, refusal] as const] : [],
  );
  const { outcomes, detail } = await take(deps, message, { taken, signal });
  const scenario = targets.length === 1 ? targets[0]?.scenario.name : undefined;
  return toOutcome(message, new Map([...refused, ...outcomes]), {
    ...detail,
    ...(scenario !== undefined && { simulated: scenario }),
  });
}

/** The same answer for every part the attempt would have covered; nothing was taken. */
export function putOff(message: OutgoingMessage, error: MessageError): SendOutcome {
  return toOutcome(message, putOffAll(targetsOf(message), error));
}

const BROKEN_OFF: MessageError = {
  code: "interrupted",
  message: "the attempt was broken off before an answer came",
};

type Outcomes = ReadonlyMap<number, PartOutcome>;

function putOffAll(targets: readonly Target[], error: MessageError): Outcomes {
  return new Map(targets.map(({ index }) => [index, { kind: "deferred", error }]));
}

/** The simulator's no; `undefined` where it takes the part. */
function judge(
  deps: AttemptDeps,
  message: OutgoingMessage,
  { index, scenario }: Target,
): PartOutcome | undefined {
  const { answer, times, error } = scenario;
  if (answer === "takes" || !error) return undefined;
  if (answer === "rejects") return { kind: "rejected", error };
  if (times === undefined)
    return { kind: "deferred", error, retryAfterMs: neverWaitMs(deps.clock.now(), message) };
  const isRefused = deps.counts.refuses(`${message.messageId}/${index}`, times);
  return isRefused ? { kind: "deferred", error, retryAfterMs: SHORT_WAIT_MS } : undefined;
}

/** Half of the message's age: the waits grow by half each time, and no memory is needed. */
function neverWaitMs(now: number, { createdAt }: OutgoingMessage): number {
  const { shortest, longest } = NEVER_WAIT_MS;
  return Math.min(longest, Math.max(shortest, Math.round((now - createdAt) / 2)));
}

interface Taken {
  readonly outcomes: Outcomes;
  readonly detail?: SendOutcome["detail"];
}

async function take(
  deps: AttemptDeps,
  message: OutgoingMessage,
  { taken, signal }: { readonly taken: readonly Target[]; readonly signal: AbortSignal },
): Promise<Taken> {
  if (taken.length === 0) return { outcomes: new Map() };
  const render = message.channel === "sms" ? renderSms(message) : await renderEmail(message, taken.length);
  if (render.kind === "refused") {
    return {
      outcomes: new Map(taken.map(({ index }) => [index, { kind: "rejected", error: render.error }])),
    };
  }
  const entries = taken.map((target) => toEntry(deps, message, { target, rendered: render.rendered }));
  const written = await inTime(deps.clock, deps.writer.write(entries), signal);
  const outcomes = taken.map(({ index }, at) => [index, WRITTEN[written](entries[at]?.id)] as const);
  return { outcomes: new Map(outcomes), detail: render.detail };
}

function toEntry(
  { clock, random, newId }: AttemptDeps,
  message: OutgoingMessage,
  { target, rendered }: { readonly target: Target; readonly rendered: SandboxEntry["rendered"] },
): SandboxEntry {
  const { accountId, messageId, channel } = message;
  const { receipt } = target.scenario;
  const { shortest, longest } = RECEIPT_DELAY_MS;
  const receivedAt = clock.now();
  const at = receivedAt + shortest + Math.floor(random() * (longest - shortest));
  return {
    id: newId(),
    accountId,
    messageId,
    channel,
    to: target.to,
    receivedAt,
    rendered,
    ...(receipt && { receipt: { at, ...receipt } }),
  };
}

const LEDGER_AWAY: MessageError = {
  code: "simulator.unavailable",
  message: "the sandbox ledger cannot be written",
};

const NO_ANSWER: MessageError = {
  code: "unconfirmed",
  message: "it may have been taken; no answer came in time",
};

/** What a write came to, as the part's outcome. */
const WRITTEN: Readonly<Record<Written, (id: string | undefined) => PartOutcome>> = {
  written: (id) => ({ kind: "sent", providerMessageIds: id === undefined ? [] : [id] }),
  failed: () => ({ kind: "deferred", error: LEDGER_AWAY }),
  unanswered: () => ({ kind: "unconfirmed", error: NO_ANSWER }),
};

/** A message may wait for the write before its own. */
function inTime(clock: Clock, write: Promise<Written>, signal: AbortSignal): Promise<Written> {
  return new Promise((resolve) => {
    const end = (written: Written) => {
      cancel();
      signal.removeEventListener("abort", giveUp);
      resolve(written);
    };
    const giveUp = () => end("unanswered");
    const cancel = clock.after(2 * WRITE_LIMIT_MS, giveUp);
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp);
    void write.then(end);
  });
}

/**
 * Aligned with the message's parts. An attempt that put anything off costs none of the retry budget: what is
 * throttled comes again soon, and what is never taken goes on until the window is over.
 */
function toOutcome(
  message: OutgoingMessage,
  outcomes: Outcomes,
  detail?: SendOutcome["detail"],
): SendOutcome {
  const length = Math.max(message.parts.length, ...[...outcomes.keys()].map((index) => index + 1));
  const parts = Array.from({ length }, (_, index) => outcomes.get(index));
  const isPutOff = parts.some((part) => part?.kind === "deferred");
  return {
    parts,
    countsAsAttempt: outcomes.size > 0 && !isPutOff,
    ...(detail && Object.keys(detail).length > 0 && { detail }),
  };
}
