/** One attempt at a claimed job, up to the settlement that is to be stored. */
import type { OutgoingMessage } from "../channels/channel.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { SendOutcome } from "../core/messages/outcome.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import type { RouteOfJob } from "./job-routes.ts";
import { judge, judgeElsewhere, judgeFailover, judgeHeld, judgeWaiting } from "./judge.ts";
import { ableInstead, canEverSend, isRefusedHere, leftToOthers } from "./outlets/able-outlets.ts";
import type { IsDeleted } from "./outlets/deleted-connectors.ts";
import { type Assignment, createFailover, type Failover } from "./outlets/failover.ts";
import { takeLargePlace } from "./outlets/large-limit.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { downWaitMs, outletOfJob, type WaitsForOwner } from "./outlets/outlet-of-job.ts";
import { canFailOver, ownerDeleted, ownerOf } from "./outlets/owner-of-job.ts";
import { reportAttempt } from "./report-attempt.ts";
import type { Prepare } from "./sending/prepare.ts";
import { putOff } from "./sending/put-off.ts";
import { type Skipped, withSkipped } from "./sending/skip-suppressed.ts";
import { judgeBefore, judgeImpossible, judgeSkipped } from "./unsent.ts";

/** Before the first octet is sent, the lease must outlast the slowest answer by this much. */
const LEASE_MARGIN_MS = 5_000;

export interface AttemptDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observe: DeliveryMetrics;
  readonly prepare: Prepare;
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  readonly isDeleted: IsDeleted;
  readonly routeOf: RouteOfJob;
  /** Aborts when the process is stopping and has waited long enough for answers. */
  readonly signal: AbortSignal;
}

/** How a claimed job may be sent: over which connectors, and until when it belongs to this process. */
export interface JobLease extends Assignment {
  /** When the lease ends, in milliseconds of the monotonic clock. */
  readonly leaseEndsMs: number;
  /** False once another process may have taken the job over, because it believes that this one is dead. */
  readonly isOurs: () => boolean;
  /** Keeps the job from being claimed again while it is under way: its outcome is known, and waits to be stored. */
  readonly keep: () => void;
  /** The setting of the job's route. */
  readonly failoverMode: Route["failover"];
  /** The job was claimed from the connector's own queue. */
  readonly isOwnQueue?: true | undefined;
}

/** Resolves with the settlement to store; `undefined` if nothing was sent and the job goes back in line. Rejects only for a bug. */
export type Attempt = (job: ClaimedJob, lease: JobLease) => Promise<Attempted | undefined>;

export interface Attempted extends Settlement {
  /** The queue in which the job waits from then on; absent: its own. */
  readonly moveTo?: string;
}

/**
 * The steps of an attempt, in order: decide whether the message may be sent at all (`judgeBefore`), choose its outlet, take a
 * place if it is a large mail, check that the lease lasts (`mayBegin`), prepare it, and only then hand it over. What was reserved
 * and not used is given back.
 */
export function createAttempt(given: AttemptDeps): Attempt {
  const deps = { ...given, failover: createFailover() };
  return async (job, lease) => {
    const handover: Handover = { ...lease, isDone: false };
    try {
      const settled = judgeBefore(deps, job, lease.outlets);
      if (settled) return await settled;
      const moved = lease.isOwnQueue ? await letGo(deps, job, lease) : undefined;
      return moved ?? (await chooseAndSend(deps, job, handover));
    } catch (error) {
      if (handover.isDone) throw error;
      return await putOff(deps, job, error);
    } finally {
      if (!handover.isDone) handover.outlet.unreserve(1);
    }
  };
}

interface Attempting extends AttemptDeps {
  readonly failover: Failover;
}

/** A job on its way to a connector. */
interface Handover extends JobLease {
  /** The outlet at which its slot is reserved. */
  outlet: Outlet;
  /** True once the connector has been handed the message, which uses up the slot. */
  isDone: boolean;
}

/**
 * Sends a job in a connector's own queue back to its route if the connector does not own it, and others of the route can send it
 * too; `undefined`: there is no need.
 */
async function letGo(
  deps: AttemptDeps,
  job: ClaimedJob,
  { outlet }: JobLease,
): Promise<Attempted | undefined> {
  const route = deps.routeOf(job);
  if (!route || ownerOf(job, route.failover) === outlet.channel.connectorId) return undefined;
  const outlets = route.connectorIds.flatMap((id) => deps.outletOf(id) ?? []);
  if (await isOnlyHere(deps, job, { outlet, outlets })) return undefined;
  return { ...judgeElsewhere(job, deps.clock.now()), moveTo: route.id };
}

/** Whether the message waited for this outlet because another one of the route can never send it. */
async function isOnlyHere(
  deps: AttemptDeps,
  job: ClaimedJob,
  { outlet, outlets }: Assignment,
): Promise<boolean> {
  const prepared = await deps.prepare(job);
  if (prepared.kind !== "ready" || !canEverSend(outlet, prepared.message)) return false;
  return outlets.some((other) => !canEverSend(other, prepared.message));
}

/** Chooses the outlet and, for a large mail, takes a place there. */
async function chooseAndSend(
  deps: Attempting,
  job: ClaimedJob,
  handover: Handover,
): Promise<Attempted | undefined> {
  const choice = outletOfJob(deps, job, handover);
  const chosen = "waitMs" in choice ? await awaitOwner(deps, job, { ...choice, lease: handover }) : choice;
  if (!("outlet" in chosen)) return chosen;
  handover.outlet = chosen.outlet;
  const place = takeLargePlace(chosen.outlet.largeLimit, job);
  if ("waitMs" in place)
    return judgeWaiting(job, { now: deps.clock.now(), ...place, owner: chosen.outlet.channel.connectorId });
  try {
    return await prepareAndSend(deps, job, handover);
  } finally {
    place.leave();
  }
}

/**
 * For a message that only one connector may send (`ownerOf`), which cannot take it now: the message waits, and in that connector's own
 * queue if it is up. If it has been deleted, the message goes over another one, or fails if some of its segments were taken.
 */
async function awaitOwner(
  deps: Attempting,
  job: ClaimedJob,
  { lease, owner, waitMs, isUp }: WaitsForOwner & { readonly lease: JobLease },
): Promise<Attempted | { readonly outlet: Outlet }> {
  if (!(await deps.isDeleted(owner))) {
    const waiting = judgeWaiting(job, { now: deps.clock.now(), owner, waitMs });
    return isUp ? { ...waiting, moveTo: owner } : waiting;
  }
  const choice = outletOfJob(deps, job, { ...lease, failoverMode: "always" });
  return "outlet" in choice ? choice : judgeImpossible(deps, job, ownerDeleted(job, owner));
}

/** Prepares the message, and hands it over if the lease lasts. */
async function prepareAndSend(
  deps: Attempting,
  job: ClaimedJob,
  handover: Handover,
): Promise<Settlement | undefined> {
  if (!mayBegin(deps, handover)) return undefined;
  const preparing = deps.prepare(job);
  const outgoing = preparing instanceof Promise ? await preparing : preparing;
  // Checked again: preparing may have taken long, or the process may have been suspended meanwhile.
  if (preparing instanceof Promise && !mayBegin(deps, handover)) return undefined;
  if (outgoing.kind === "held") return judgeHeld(job, deps.clock.now());
  if (outgoing.kind === "impossible") return judgeImpossible(deps, job, outgoing.error);
  if (outgoing.message.only?.length === 0) return judgeSkipped(deps, job, outgoing.skipped);
  handover.outlet.handOver(outgoing.message);
  handover.isDone = true;
  return send(deps, job, { lease: handover, ...outgoing });
}

/** Whether the lease outlasts the slowest answer, and no other process can have taken the job over. */
function mayBegin({ clock, signal }: AttemptDeps, { outlet, leaseEndsMs, isOurs }: JobLease): boolean {
  const latestMs = clock.monotonicMs() + outlet.channel.sendTimeoutMs + LEASE_MARGIN_MS;
  return !signal.aborted && latestMs <= leaseEndsMs && isOurs();
}

async function send(
  deps: Attempting,
  job: ClaimedJob,
  {
    lease,
    message,
    skipped,
  }: { readonly lease: JobLease; readonly message: OutgoingMessage; readonly skipped?: Skipped },
): Promise<Attempted> {
  const { channel, noteAttempt } = lease.outlet;
  const startedMs = deps.clock.monotonicMs();
  const sent = await channel.send(message, deps.signal, lease.isOurs);
  const { messageId, progress } = job;
  noteAttempt({ messageId, progress, isRefusedHere: isRefusedHere(lease.outlet, sent, message) }, sent);
  const instead = ownerOf(job, lease.failoverMode) === undefined ? ableInstead(lease, sent, message) : [];
  const outcome = withSkipped(instead.length > 0 ? leftToOthers(sent) : sent, skipped);
  const context = { now: deps.clock.now(), connectorId: channel.connectorId, jitter: deps.random() };
  const judged = judge(job, outcome, context);
  const settlement = orFailOver(deps, job, { outcome, lease, judged, instead });
  reportAttempt(deps, job, { outcome, settlement, ms: deps.clock.monotonicMs() - startedMs });
  return settlement;
}

/**
 * If the message was deferred and another connector of its route may take it now, it goes there at once. If it was not sent because
 * its own one has been closed meanwhile, it only goes back in line: a connector that was changed is opened again, and waited for.
 */
function orFailOver(
  { failover, outletOf }: Attempting,
  job: ClaimedJob,
  attempt: {
    readonly outcome: SendOutcome;
    readonly lease: JobLease;
    readonly judged: Settlement;
    /** See `ableInstead`. */
    readonly instead: readonly Outlet[];
  },
): Attempted {
  const { outcome, lease, judged, instead } = attempt;
  if (judged.next.kind === "again" && canFailOver(job, outcome, lease.failoverMode)) {
    const isClosed = outletOf(lease.outlet.channel.connectorId) !== lease.outlet;
    if (isClosed && !outcome.countsAsAttempt) return judgeFailover(judged);
    return failover.noteDeferral(job.messageId, lease)
      ? judgeFailover(judged)
      : awaitAble(job, judged, instead);
  }
  failover.forget(job.messageId);
  return judged;
}

/** If there are outlets that could send the message instead, but none can now: it waits for one of them, in its own queue if that is up. */
function awaitAble(job: ClaimedJob, judged: Settlement, [first, ...others]: readonly Outlet[]): Attempted {
  if (!first) return judged;
  const up = [first, ...others].find((outlet) => outlet.isUp());
  if (up) return { ...judgeFailover(judged), moveTo: up.channel.connectorId };
  const dueAt = Math.min(job.expiresAt, judged.at + downWaitMs(first));
  return { ...judged, next: { ...judged.next, kind: "again", dueAt } };
}
