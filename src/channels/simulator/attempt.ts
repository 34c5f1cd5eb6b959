import { type Clock, type Random, sleep } from "../../core/clock.ts";
import type { MessageError } from "../../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../../core/messages/outcome.ts";
import type { SandboxEntry } from "../../core/messages/sandbox-entry.ts";
import type { Semaphore } from "../../core/work/semaphore.ts";
import { waitAtMost } from "../../core/work/wait-at-most.ts";
import type { OutgoingEmail, OutgoingMessage } from "../channel.ts";
import { type EntryWriter, WRITE_LIMIT_MS, type Written } from "./entry-writer.ts";
import type { RefusalCounts } from "./refusal-counts.ts";
import { renderEmail } from "./render-email.ts";
import { renderSms } from "./render-sms.ts";
import type { Rendering } from "./rendering.ts";
import { type Target, targetsOf } from "./targets.ts";

interface SimulatedAttemptDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: () => string;
  readonly writer: EntryWriter;
  readonly counts: RefusalCounts;
  /** Lets one long mail at a time be composed. */
  readonly longMails: Semaphore;
}

/** The wait of a part that is deferred a given number of times: it is tried again soon. */
const SHORT_WAIT_MS = 250;

/** The waits of a part that is always deferred. They grow, so that a day of it does not fill a timeline. */
const NEVER_WAIT_MS = { shortest: 1_000, longest: 15 * 60_000 };

/** How long after its message a receipt comes: spread evenly between these two. */
const RECEIPT_DELAY_MS = { shortest: 100, longest: 500 };

export interface AttemptSignals {
  /** Aborts every wait. */
  readonly signal: AbortSignal;
  /** Aborts when the channel stops: slow answers are cut short. */
  readonly stopping: AbortSignal;
}

/** Attempts one message. The outcome is `sent` only if the ledger holds the message durably. */
export async function attempt(
  deps: SimulatedAttemptDeps,
  message: OutgoingMessage,
  { signal, stopping }: AttemptSignals,
): Promise<SendOutcome> {
  const targets = targetsOf(message);
  const answerMs = Math.max(0, ...targets.map(({ scenario }) => scenario.answerMs ?? 0));
  if (answerMs > 0) await sleep(deps.clock, answerMs, AbortSignal.any([signal, stopping]));
  const isBrokenOff = signal.aborted || (answerMs > 0 && stopping.aborted);
  if (isBrokenOff) return toOutcome(message, deferAll(targets, BROKEN_OFF));
  const refused = new Map<number, PartOutcome>();
  for (const target of targets) {
    const refusal = judge(deps, message, target);
    if (refusal) refused.set(target.index, refusal);
  }
  const taken = targets.filter(({ index }) => !refused.has(index));
  const { outcomes, detail } = await take(deps, message, { taken, signal });
  const scenario = targets.length === 1 ? targets[0]?.scenario.name : undefined;
  return toOutcome(message, new Map([...refused, ...outcomes]), {
    ...detail,
    ...(scenario !== undefined && { simulated: scenario }),
  });
}

/** Defers every part that the attempt would have covered: nothing was taken. */
export function deferMessage(message: OutgoingMessage, error: MessageError): SendOutcome {
  return toOutcome(message, deferAll(targetsOf(message), error));
}

const BROKEN_OFF: MessageError = {
  code: "interrupted",
  message: "the attempt was broken off before an answer came",
};

type Outcomes = ReadonlyMap<number, PartOutcome>;

function deferAll(targets: readonly Target[], error: MessageError): Outcomes {
  return new Map(targets.map(({ index }) => [index, { kind: "deferred", error }]));
}

/** How the simulator rejects or defers the part; `undefined` if it takes the part. */
function judge(
  deps: SimulatedAttemptDeps,
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

/** Half of the message's age. So the waits grow by half each time, and nothing has to be remembered. */
function neverWaitMs(now: number, { createdAt }: OutgoingMessage): number {
  const { shortest, longest } = NEVER_WAIT_MS;
  return Math.min(longest, Math.max(shortest, Math.round((now - createdAt) / 2)));
}

interface Taken {
  readonly outcomes: Outcomes;
  readonly detail?: SendOutcome["detail"];
}

async function take(
  deps: SimulatedAttemptDeps,
  message: OutgoingMessage,
  { taken, signal }: { readonly taken: readonly Target[]; readonly signal: AbortSignal },
): Promise<Taken> {
  if (taken.length === 0) return { outcomes: new Map() };
  const render =
    message.channel === "sms" ? renderSms(message) : await renderInTurn(deps, message, taken.length);
  if (render === undefined) return { outcomes: deferAll(taken, TOO_MANY) };
  if (signal.aborted) return { outcomes: deferAll(taken, BROKEN_OFF) };
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

/** A mail with at most so many characters is composed within one turn of the event loop. */
const SHORT_MAIL = 65_536;

const TOO_MANY: MessageError = { code: "busy", message: "too many long emails at a time" };

/**
 * Composes long mails one at a time. They are composed in pieces, with other work in between: a piece of each of hundreds of mails
 * would make that work wait for seconds. `undefined` if it was not this mail's turn in time.
 */
async function renderInTurn(
  { longMails }: SimulatedAttemptDeps,
  message: OutgoingEmail,
  copies: number,
): Promise<Rendering | undefined> {
  const { bodyText = "", bodyHtml = "" } = message.content;
  if (bodyText.length + bodyHtml.length <= SHORT_MAIL) return renderEmail(message, copies);
  const release = await longMails.acquire();
  if (!release) return undefined;
  try {
    return await renderEmail(message, copies);
  } finally {
    release();
  }
}

function toEntry(
  { clock, random, newId }: SimulatedAttemptDeps,
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

/** The part's outcome, by what came of the write. */
const WRITTEN: Readonly<Record<Written, (id: string | undefined) => PartOutcome>> = {
  written: (id) => ({ kind: "sent", providerMessageIds: id === undefined ? [] : [id] }),
  failed: () => ({ kind: "deferred", error: LEDGER_AWAY }),
  unanswered: () => ({ kind: "unconfirmed", error: NO_ANSWER }),
};

/** What came of the write. `unanswered` on abort, and after a time limit that leaves room for the write before it. */
async function inTime(clock: Clock, write: Promise<Written>, signal: AbortSignal): Promise<Written> {
  const written = await waitAtMost<Written>(clock, { limitMs: 2 * WRITE_LIMIT_MS, signal }, (end) => {
    void write.then(end);
    return () => {};
  });
  return written ?? "unanswered";
}

/**
 * The outcomes, aligned with the message's parts. An attempt that deferred any part does not count, so that parts that
 * are always deferred go on until the window is over.
 */
function toOutcome(
  message: OutgoingMessage,
  outcomes: Outcomes,
  detail?: SendOutcome["detail"],
): SendOutcome {
  const length = Math.max(message.parts.length, ...[...outcomes.keys()].map((index) => index + 1));
  const parts = Array.from({ length }, (_, index) => outcomes.get(index));
  const isDeferred = parts.some((part) => part?.kind === "deferred");
  return {
    parts,
    countsAsAttempt: outcomes.size > 0 && !isDeferred,
    ...(detail && Object.keys(detail).length > 0 && { detail }),
  };
}
