import type { OutgoingMessage, OutgoingSms } from "../channels/channel.ts";
import type { Clock, Random } from "../core/clock.ts";
import { sleep } from "../core/clock.ts";
import type { ChannelName } from "../core/messages/message.ts";
import type { SendOutcome } from "../core/messages/outcome.ts";
import { isOpen } from "../core/messages/part.ts";
import { isSettled } from "../core/messages/progress.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { mayGoAt } from "../core/sms/promotional-hours.ts";
import { type Queue, StoreUnavailable } from "../store/store.ts";
import type { DeliveryLog, Observe } from "./engine.ts";
import {
  canFailOver,
  covers,
  hasFailedSegment,
  holdsUnconfirmed,
  judge,
  judgeExpired,
  judgeFailedSegment,
  judgeFailover,
  judgeHeld,
  judgeOutOfHours,
  judgeSettled,
  judgeWaiting,
} from "./judge.ts";
import type { DeletedConnectors } from "./outlets/deleted-connectors.ts";
import { createNextConnector, type NextConnector } from "./outlets/next-connector.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { outletOfJob } from "./outlets/outlet-of-job.ts";
import { takeLargePlace } from "./sending/large-mail.ts";
import { type Skipped, withSkipped } from "./sending/skip-suppressed.ts";
import type { Outgoing } from "./sending/to-outgoing.ts";
import { STORE_RETRY_MS, untilStored } from "./until-stored.ts";

/** Before the first octet is sent, the lease must outlast the slowest answer by this much. */
const LEASE_MARGIN_MS = 5_000;

/** A window with less than this left is over: an SMSC is told what is left in whole seconds. */
const SHORTEST_WINDOW_MS: Readonly<Record<ChannelName, number>> = { sms: 1_000, email: 1 };

export interface SenderDeps {
  readonly queue: Queue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: DeliveryLog;
  readonly observe: Observe;
  /** Renders the job's message, or says why it can never be sent. */
  readonly toOutgoing: (job: ClaimedJob, remainingMs: number) => Outgoing | Promise<Outgoing>;
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  readonly deleted: Pick<DeletedConnectors, "includes">;
  /** Aborts when a process that stops has waited long enough for answers. */
  readonly signal: AbortSignal;
}

/** Takes one claimed job to its settlement. Never throws. */
export type Sender = (job: ClaimedJob, lease: JobLease) => Promise<void>;

/** How a claimed job may be sent: over which connectors, and until when it is this process's. */
export interface JobLease {
  /** The one the job was claimed for, with a slot reserved. */
  readonly outlet: Outlet;
  /** All outlets of the job's route, in order of preference. */
  readonly outlets: readonly Outlet[];
  /** In milliseconds of the monotonic clock. */
  readonly leaseEndsMs: number;
  /** False once another process may have taken the job over, this one being taken for dead. */
  readonly isOurs: () => boolean;
  /** Of the job's route. */
  readonly failover: Route["failover"];
}

export function createSender(given: SenderDeps): Sender {
  const deps = { ...given, nextConnector: createNextConnector() };
  return async (job, lease) => {
    try {
      const settlement = await attempt(deps, job, lease);
      if (settlement) await settle(deps, settlement);
      else await release(deps, job);
    } catch (error) {
      // A bug. Nothing is lost: the lease runs out, and the job is claimed again.
      deps.log.error(
        { err: error, message_id: job.messageId },
        "a job failed unexpectedly; it is claimed again when its lease ends",
      );
    }
  };
}

interface Sending extends SenderDeps {
  readonly nextConnector: NextConnector;
}

/**
 * One attempt, in this order: may it be sent at all (`judgeBefore`), over which outlet, is there a place for a large mail,
 * does the lease last (`mayBegin`), render, and only then hand over. What is reserved on the way is given back.
 *
 * @returns what to store; `undefined` if nothing was sent and the job goes back in line
 */
async function attempt(deps: Sending, job: ClaimedJob, lease: JobLease): Promise<Settlement | undefined> {
  const { clock } = deps;
  let { outlet } = lease;
  let isHandedOver = false;
  let leaveLargePlace = () => {};
  try {
    const unsent = judgeBefore(deps, job, outlet);
    if (unsent) return await unsent;
    const choice = outletOfJob(deps, job, lease);
    const chosen = "waitMs" in choice ? await awaitOwner(deps, job, { ...choice, lease }) : choice;
    if (!("outlet" in chosen)) return chosen;
    ({ outlet } = chosen);
    const place = takeLargePlace(outlet.largeLimit, job);
    if ("waitMs" in place)
      return judgeWaiting(job, { now: clock.now(), ...place, owner: outlet.channel.connectorId });
    leaveLargePlace = place.leave;
    if (!mayBegin(deps, { ...lease, outlet })) return undefined;
    const rendering = deps.toOutgoing(job, job.expiresAt - clock.now());
    const outgoing = rendering instanceof Promise ? await rendering : rendering;
    // Checked again: rendering may have taken long, or the process may have been suspended meanwhile.
    if (rendering instanceof Promise && !mayBegin(deps, { ...lease, outlet })) return undefined;
    if (outgoing.kind === "held") return judgeHeld(job, clock.now());
    if (outgoing.kind === "impossible") return judgeImpossible(deps, job, outgoing);
    if (outgoing.message.only?.length === 0) return judgeSkipped(deps, job, outgoing.skipped);
    outlet.handOver(outgoing.message);
    isHandedOver = true;
    return await send(deps, job, { lease: { ...lease, outlet }, ...outgoing });
  } catch (error) {
    if (isHandedOver || !(error instanceof StoreUnavailable)) throw error;
    // Nothing was sent: the job goes back in line, instead of counting as interrupted when its lease ends.
    deps.log.warn(
      { err: error, message_id: job.messageId },
      "a message could not be prepared; it is tried again",
    );
    await sleep(clock, STORE_RETRY_MS, deps.signal);
    return undefined;
  } finally {
    leaveLargePlace();
    if (!isHandedOver) outlet.unreserve(1);
  }
}

/** The settlement of a job that must not be sent, or not now, over any connector; `undefined`: it may be sent. */
function judgeBefore(
  deps: Sending,
  job: ClaimedJob,
  outlet: Outlet,
): Settlement | Promise<Settlement> | undefined {
  const now = deps.clock.now();
  if (isSettled(job.progress)) return judgeSettled(job, now);
  if (hasFailedSegment(job)) return judgeFailedSegment(job, now);
  if (job.expiresAt - now < SHORTEST_WINDOW_MS[job.progress.channel]) return judgeExpired(job, now);
  if (job.wasInterrupted) deps.observe.unconfirmed(job.progress.channel);
  if (job.wasInterrupted && holdsUnconfirmed(job))
    return countParts(deps, job, outlet).then((parts) => judgeHeld(job, deps.clock.now(), parts));
  if (job.isOptedOut) return judgeImpossible(deps, job, OPTED_OUT);
  const opensAt = mayGoAt(job, job.recipient, now);
  return opensAt > now ? judgeOutOfHours(job, { now, mayGoAt: opensAt }) : undefined;
}

/**
 * For a job whose message only one connector may send (`ownerOf`), which cannot take it now: it waits. If that connector was
 * deleted, the message goes over another one, or fails if some of its segments were taken.
 */
async function awaitOwner(
  deps: Sending,
  job: ClaimedJob,
  { lease, ...waiting }: { readonly lease: JobLease; readonly owner: string; readonly waitMs: number },
): Promise<Settlement | { readonly outlet: Outlet }> {
  const isDeleted = await deps.deleted.includes(waiting.owner);
  if (!isDeleted) return judgeWaiting(job, { now: deps.clock.now(), ...waiting });
  const choice = outletOfJob(deps, job, { ...lease, failover: "always" });
  return "outlet" in choice ? choice : judgeImpossible(deps, job, ownerDeleted(job, waiting.owner));
}

/** How many parts the message has; if no attempt has counted them yet, how many the connector would make of it. */
async function countParts(deps: Sending, job: ClaimedJob, { channel }: Outlet): Promise<number> {
  if (job.progress.parts.length > 0 || !channel.partsOf) return 1;
  const outgoing = await deps.toOutgoing(job, job.expiresAt - deps.clock.now());
  const isSms = outgoing.kind === "ready" && outgoing.message.channel === "sms";
  return (isSms && channel.partsOf(outgoing.message as OutgoingSms)) || 1;
}

/** The lease outlasts the slowest answer, and no other process can have taken the job over. */
function mayBegin({ clock, signal }: SenderDeps, { outlet, leaseEndsMs, isOurs }: JobLease): boolean {
  const latestMs = clock.monotonicMs() + outlet.channel.sendTimeoutMs + LEASE_MARGIN_MS;
  return !signal.aborted && latestMs <= leaseEndsMs && isOurs();
}

async function send(
  deps: Sending,
  job: ClaimedJob,
  handover: { readonly lease: JobLease; readonly message: OutgoingMessage; readonly skipped?: Skipped },
): Promise<Settlement> {
  const { isOurs, outlet } = handover.lease;
  const { channel, noteAttempt } = outlet;
  const startedMs = deps.clock.monotonicMs();
  const sent = await channel.send(handover.message, deps.signal, isOurs);
  noteAttempt(job, sent);
  const outcome = withSkipped(sent, handover.skipped);
  const context = { now: deps.clock.now(), connectorId: channel.connectorId, jitter: deps.random() };
  const settlement = orFailOver(deps, job, {
    outcome,
    lease: handover.lease,
    judged: judge(job, outcome, context),
  });
  observe(deps, job, { outcome, settlement, ms: deps.clock.monotonicMs() - startedMs });
  return settlement;
}

/** A message that was deferred goes over the next connector of its route, where one is free. */
function orFailOver(
  { nextConnector }: Sending,
  job: ClaimedJob,
  attempt: { readonly outcome: SendOutcome; readonly lease: JobLease; readonly judged: Settlement },
): Settlement {
  const { outcome, lease, judged } = attempt;
  if (judged.next.kind === "again" && canFailOver(job, outcome, lease.failover)) {
    return nextConnector.deferred(job.messageId, lease) ? judgeFailover(judged) : judged;
  }
  nextConnector.forget(job.messageId);
  return judged;
}

/** All recipients still to be tried are suppressed. */
function judgeSkipped(deps: SenderDeps, job: ClaimedJob, skipped: Skipped | undefined): Settlement {
  return judgeUnsent(deps, job, withSkipped({ parts: [], countsAsAttempt: false }, skipped));
}

/** The recipient has opted out while the message was in the queue. */
const OPTED_OUT = {
  kind: "impossible",
  error: { code: "opted_out", message: "the recipient has opted out of this sender's messages" },
} as const;

/** Segments that two connectors send would not be joined by a handset. */
function ownerDeleted({ progress: { parts } }: ClaimedJob, owner: string) {
  const own = parts.filter(({ connectorId }) => connectorId === owner);
  const had = own.some(isOpen) ? "may have taken" : "had taken";
  const message = `the connector that ${had} ${own.length} of its ${parts.length} segments was deleted, and another cannot send the rest`;
  return { kind: "impossible", error: { code: "connector_deleted", message } } as const;
}

function judgeImpossible(
  deps: SenderDeps,
  job: ClaimedJob,
  outgoing: Extract<Outgoing, { kind: "impossible" }>,
): Settlement {
  const length = Math.max(1, job.progress.parts.length);
  const rejected = { kind: "rejected", error: outgoing.error } as const;
  const parts = Array.from({ length }, (_, index) => (covers(job, index) ? rejected : undefined));
  return judgeUnsent(deps, job, { parts, countsAsAttempt: false });
}

/** An outcome that was decided here, without a connector. */
function judgeUnsent(deps: SenderDeps, job: ClaimedJob, outcome: SendOutcome): Settlement {
  const settlement = judge(job, outcome, { now: deps.clock.now(), connectorId: "postrider", jitter: 0 });
  observe(deps, job, { outcome, settlement, ms: 0 });
  return settlement;
}

/** Reports an attempt to the metrics and the debug log. */
function observe(
  deps: SenderDeps,
  job: ClaimedJob,
  attempt: { readonly outcome: SendOutcome; readonly settlement: Settlement; readonly ms: number },
): void {
  const kinds = attempt.outcome.parts.flatMap((part) => (part ? [part.kind] : []));
  const connector = attempt.settlement.connectorId ?? "";
  deps.observe.attempt({ channel: job.progress.channel, connector, kinds, ms: attempt.ms });
  if (!deps.log.isDebug()) return;
  deps.log.debug(
    {
      message_id: job.messageId,
      connector,
      attempt: job.attempt + 1,
      outcomes: kinds,
      next: attempt.settlement.next.kind,
      ms: Math.round(attempt.ms),
    },
    "attempt",
  );
}

async function settle(deps: SenderDeps, settlement: Settlement): Promise<void> {
  const [isOurs] = await untilStored(deps, () => deps.queue.settle([settlement]));
  // Where nothing was sent, nothing is lost: upkeep has ended the message meanwhile, as it does with each that expires.
  if (isOurs || settlement.connectorId === undefined) return;
  const { messageId: message_id, claim } = settlement;
  deps.log.warn({ message_id, claim }, "a lease was lost before its attempt was recorded");
}

async function release(deps: SenderDeps, { jobId, claim }: ClaimedJob): Promise<void> {
  await untilStored(deps, () => deps.queue.release([{ jobId, claim }], deps.clock.now()));
}
