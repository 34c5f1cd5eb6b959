/** The way out through one SMSC: messages become submit_sm, deliver_sm become receipts. */
import type { Connector } from "../../../core/accounts.ts";
import type { Part } from "../../../core/message.ts";
import type { PartOutcome, SendOutcome } from "../../../core/outcome.ts";
import type { Channel, ChannelDeps, ChannelStatus, OutgoingMessage, OutgoingSms } from "../../channel.ts";
import { type BoundLink, keepBound } from "./keep-bound.ts";
import { createReceiptInbox } from "./receipt-inbox.ts";
import { openSession, type Session } from "./session.ts";
import { readSmppConfig, type SmppConfig, sessionOptions } from "./smpp-config.ts";
import { THROTTLE_PAUSE_MS } from "./status-words.ts";
import { planSubmit, type SubmitPlan } from "./submit-plan.ts";
import {
  type AnswerReading,
  notTried,
  type SubmitResult,
  toSubmitResult,
  unconfirmed,
} from "./submit-result.ts";

/** Answers under way are waited for this long when a session is left. */
const DRAIN_MS = 10_000;

/** What a send may take beyond its time limits. */
const SEND_MARGIN_MS = 5000;

interface SmppChannel {
  readonly config: SmppConfig;
  readonly clock: ChannelDeps["clock"];
  readonly link: BoundLink;
  readonly reading: AnswerReading;
}

/** Throws if the connector's configuration is not that of `smppConfigSchema`. */
export function openSmppChannel(connector: Connector, deps: ChannelDeps): Channel {
  const config = readSmppConfig(connector);
  if (config instanceof Error) throw config;
  const options = sessionOptions(config, connector.secrets);
  const inbox = createReceiptInbox(
    { connectorId: connector.id, idFormat: config.id_format, storeTimeoutMs: config.response_timeout_ms },
    deps,
  );
  const sends = createTally();
  const link = keepBound({
    clock: deps.clock,
    random: deps.random,
    open: (events) =>
      openSession(options, deps.clock, { ...events, onMessage: inbox.take, onSlots: deps.onSlots }),
    onStatus: (status) => tellStatus(connector, status, deps),
    drainMs: Math.min(DRAIN_MS, config.response_timeout_ms),
    nobodyWaits: sends.whenNone,
    receiptsStored: inbox.whenEmpty,
  });
  const statusClasses = new Map(Object.entries(config.status_classes).map(([k, v]) => [Number(k), v]));
  const reading: AnswerReading = { statusClasses, idFormat: config.id_format };
  const channel: SmppChannel = { config, clock: deps.clock, link, reading };
  return {
    connectorId: connector.id,
    // A segment waits at most one response timeout for its slot, and then at most another for its answer.
    sendTimeoutMs: 2 * config.response_timeout_ms + SEND_MARGIN_MS,
    start: link.start,
    freeSlots: () => link.session()?.slots.free() ?? 0,
    send: (message, signal) => sends.during(send(channel, message, signal)),
    stop: link.stop,
    status: link.status,
  };
}

/** Counts what is under way. */
function createTally() {
  const underWay = new Set<Promise<unknown>>();
  return {
    during<T>(work: Promise<T>): Promise<T> {
      underWay.add(work);
      return work.finally(() => underWay.delete(work));
    },
    whenNone: async () => void (await Promise.allSettled(underWay)),
  };
}

function tellStatus(connector: Connector, status: ChannelStatus, deps: ChannelDeps): void {
  const fields = { connectorId: connector.id, connector: connector.name, state: status.state };
  if (status.state === "down") deps.log.warn({ ...fields, reason: status.reason }, "SMPP connector is down");
  else deps.log.info(fields, `SMPP connector is ${status.state}`);
  deps.onStatus(status);
  if (status.state === "up") deps.onSlots();
}

async function send(
  channel: SmppChannel,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<SendOutcome> {
  if (message.channel !== "sms")
    return rejectAll(message, "smpp.not_an_sms", "this connector sends SMS only");
  const plan = planSubmit(message, channel.config);
  if ("error" in plan) return rejectAll(message, plan.error.code, plan.error.message);
  if (message.parts.some(isSettled) && message.parts.length !== plan.submits) {
    const words = `the text now makes ${plan.submits} segments, and some of ${message.parts.length} were sent`;
    return rejectAll(message, "smpp.segments_changed", words);
  }
  const results = await submitSegments(channel, { message, plan, signal });
  const tried = results.filter((result) => result !== undefined);
  return {
    parts: results.map((result) => result?.outcome),
    countsAsAttempt: tried.length > 0 && countsAsAttempt(tried),
    detail: { encoding: plan.encoding, segments: plan.segments },
  };
}

/** Segments that were taken are progress: beside them, one that was only put off does not make an attempt count. */
function countsAsAttempt(results: readonly SubmitResult[]): boolean {
  return results.every(({ counts }) => counts) || results.some((r) => r.counts && r.outcome.kind !== "sent");
}

function rejectAll(message: OutgoingMessage, code: string, words: string): SendOutcome {
  const rejected: PartOutcome = { kind: "rejected", error: { code, message: words } };
  const count = Math.max(1, message.parts.length);
  const parts = Array.from({ length: count }, (_, i) => (isToBeSent(message, i) ? rejected : undefined));
  return { parts, countsAsAttempt: parts.includes(rejected) };
}

function isToBeSent(message: OutgoingMessage, part: number): boolean {
  return !isSettled(message.parts[part]) && (message.only === undefined || message.only.includes(part));
}

function isSettled(part: Part | undefined): boolean {
  return part !== undefined && part.status !== "pending" && part.status !== "unconfirmed";
}

// ---------------------------------------------------------------- one attempt

interface Attempt {
  readonly message: OutgoingSms;
  readonly plan: SubmitPlan;
  readonly signal: AbortSignal;
}

/** The state of an attempt: when it began, what cuts it off, and the refusal of a segment, once there is one. */
interface Progress extends Attempt {
  readonly startedAt: number;
  readonly cutOff: Promise<SubmitResult>;
  refused: SubmitResult | undefined;
}

/** Submits the segments still to be sent, in their order, as the window lets them; answers are not waited for in between. */
async function submitSegments(channel: SmppChannel, attempt: Attempt): Promise<(SubmitResult | undefined)[]> {
  const { promise: cutOff, stopWatching } = whenCutOff(attempt.signal);
  const progress: Progress = {
    ...attempt,
    cutOff,
    startedAt: channel.clock.monotonicMs(),
    refused: undefined,
  };
  const begun: { readonly result: SubmitResult | Promise<SubmitResult> | undefined }[] = [];
  for (let segment = 0; segment < attempt.plan.submits; segment++) {
    const isDue = isToBeSent(attempt.message, segment);
    begun.push(isDue ? await beginSegment(channel, progress, segment) : { result: undefined });
  }
  const results = await Promise.all(begun.map(({ result }) => result));
  stopWatching();
  return results;
}

/** Resolves when the segment is on its way, or stays here; its result comes later. */
async function beginSegment(
  channel: SmppChannel,
  progress: Progress,
  segment: number,
): Promise<{ readonly result: SubmitResult | Promise<SubmitResult> }> {
  const session = channel.link.session();
  if (!session) return { result: notTried("smpp.not_connected", "there is no session with the SMSC") };
  const waitMs = channel.config.response_timeout_ms - elapsedMs(channel, progress);
  const hasSlot = await session.slots.take({ waitMs, signal: progress.signal });
  if (!hasSlot) return { result: noSlot(channel, progress, session) };
  const remainingMs = progress.message.remainingMs - elapsedMs(channel, progress);
  // A message with a segment missing helps nobody: once one is refused, the others stay here.
  const reason =
    remainingMs <= 0 ? notTried("smpp.too_late", "the delivery window ended here") : progress.refused;
  if (reason) {
    session.slots.giveBack();
    return { result: reason };
  }
  return {
    result: submitSegment(channel, session, { progress, body: progress.plan.body(segment, remainingMs) }),
  };
}

async function submitSegment(
  channel: SmppChannel,
  session: Session,
  { progress, body }: { progress: Progress; body: Uint8Array },
): Promise<SubmitResult> {
  const answered = session.submit(body).then((answer) => {
    const result = toSubmitResult(answer, channel.reading);
    if (result.reaction === "rest") session.slots.rest(THROTTLE_PAUSE_MS);
    if (result.reaction === "replace") channel.link.replace(`the SMSC answered ${errorOf(result)}`);
    if (result.outcome.kind === "rejected") progress.refused ??= result;
    return result;
  });
  return Promise.race([answered, progress.cutOff]);
}

function noSlot(channel: SmppChannel, { signal }: Progress, session: Session): SubmitResult {
  if (signal.aborted)
    return notTried("smpp.cut_off", "the attempt was cut off while it waited for the window");
  if (channel.link.session() !== session) return notTried("smpp.session_lost", "the session ended first");
  return notTried("smpp.window_full", "the window stayed full");
}

function elapsedMs(channel: SmppChannel, { startedAt }: Progress): number {
  return channel.clock.monotonicMs() - startedAt;
}

function errorOf({ outcome }: SubmitResult): string {
  return "error" in outcome ? outcome.error.message : "";
}

/** What a segment already handed over came to when nobody waits for its answer any more. */
function whenCutOff(signal: AbortSignal): { promise: Promise<SubmitResult>; stopWatching: () => void } {
  const { promise, resolve } = Promise.withResolvers<SubmitResult>();
  const tell = () => resolve(unconfirmed("smpp.cut_off", "the attempt was cut off before the SMSC answered"));
  if (signal.aborted) tell();
  else signal.addEventListener("abort", tell);
  return { promise, stopWatching: () => signal.removeEventListener("abort", tell) };
}
