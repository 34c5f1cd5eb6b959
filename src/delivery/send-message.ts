import type { OutgoingMessage, OutgoingSms } from "../channels/channel.ts";
import type { Clock, Random } from "../core/clock.ts";
import { sleep } from "../core/clock.ts";
import type { ChannelName } from "../core/messages/message.ts";
import type { SendOutcome } from "../core/messages/outcome.ts";
import { isSettled } from "../core/messages/progress.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { mayGoAt } from "../core/sms/promotional-hours.ts";
import { type Queue, StoreUnavailable } from "../store/store.ts";
import type { DeliveryLog, Observe } from "./engine.ts";
import {
  holdsUnconfirmed,
  isPutOff,
  judge,
  judgeDeferred,
  judgeElsewhere,
  judgeElsewhereNow,
  judgeExpired,
  judgeHeld,
  judgeSettled,
  ownerOf,
} from "./judge.ts";
import { createNextConnector, type NextConnector } from "./outlets/next-connector.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { enterLane } from "./sending/large-mail.ts";
import { type Skipped, withSkipped } from "./sending/skip-suppressed.ts";
import type { Outgoing } from "./sending/to-outgoing.ts";

/** What is left of the lease before the first byte must outlast the slowest answer by this much. */
const LEASE_MARGIN_MS = 5_000;

/** When a message that is one connector's looks for it again: while it is full, and while it is down. */
const ELSEWHERE_WAIT_MS = { full: 1_000, down: 30_000 };

/** Less than this is no window: what an SMSC is told of it is in whole seconds. */
const SHORTEST_WINDOW_MS: Readonly<Record<ChannelName, number>> = { sms: 1_000, email: 1 };

/** Between tries to store a verdict while the database is away. */
const SETTLE_RETRY_MS = 250;

export interface SenderDeps {
  readonly queue: Queue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: DeliveryLog;
  readonly observe: Observe;
  /** Renders the job's message, or says why it can never be sent. */
  readonly toOutgoing: (job: ClaimedJob, remainingMs: number) => Outgoing | Promise<Outgoing>;
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  /** Aborts when the process has waited long enough for answers. */
  readonly signal: AbortSignal;
}

/** One claimed job from lease to verdict. Never throws. */
export type Sender = (job: ClaimedJob, lease: Lease) => Promise<void>;

export interface Lease {
  readonly outlet: Outlet;
  /** All of the job's route, in their order. */
  readonly outlets: readonly Outlet[];
  /** On the monotonic clock. */
  readonly leaseEndsMs: number;
  /** Nobody can have taken the job for that of a dead process. */
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
      else await deps.queue.release([{ jobId: job.jobId, claim: job.claim }], deps.clock.now());
    } catch (error) {
      // The lease runs out and the job is found again; nothing is lost, but it is ours to mend.
      deps.log.error({ err: error, message_id: job.messageId }, "a job could not be worked");
    }
  };
}

interface Sending extends SenderDeps {
  readonly nextConnector: NextConnector;
}

/** The verdict; `undefined` where the job was not touched and shall go back in line. */
async function attempt(deps: Sending, job: ClaimedJob, lease: Lease): Promise<Settlement | undefined> {
  const { clock } = deps;
  let { outlet } = lease;
  let handedOver = false;
  let leave = () => {};
  try {
    if (isSettled(job.progress)) return judgeSettled(job, clock.now());
    const leftMs = job.expiresAt - clock.now();
    if (leftMs < SHORTEST_WINDOW_MS[job.progress.channel]) return judgeExpired(job, clock.now());
    if (job.wasInterrupted) deps.observe.unconfirmed(job.progress.channel);
    if (job.wasInterrupted && holdsUnconfirmed(job))
      return judgeHeld(job, clock.now(), await countParts(deps, job, outlet));
    if (job.isOptedOut) return judgeImpossible(deps, job, OPTED_OUT);
    const opensAt = mayGoAt(job, job.recipient, clock.now());
    if (opensAt > clock.now()) return judgeDeferred(job, { now: clock.now(), mayGoAt: opensAt });
    const right = rightOutlet(deps, job, lease);
    if ("waitMs" in right) return judgeElsewhere(job, { now: clock.now(), ...right });
    ({ outlet } = right);
    const place = enterLane(outlet.lane, job);
    if ("waitMs" in place)
      return judgeElsewhere(job, { now: clock.now(), ...place, owner: outlet.channel.connectorId });
    ({ leave } = place);
    if (!mayBegin(deps, { ...lease, outlet })) return undefined;
    const made = deps.toOutgoing(job, job.expiresAt - clock.now());
    const outgoing = made instanceof Promise ? await made : made;
    // It may have taken long, or the process may have stood still meanwhile.
    if (made instanceof Promise && !mayBegin(deps, { ...lease, outlet })) return undefined;
    if (outgoing.kind === "held") return judgeHeld(job, clock.now());
    if (outgoing.kind === "impossible") return judgeImpossible(deps, job, outgoing);
    if (outgoing.message.only?.length === 0) return judgeSkipped(deps, job, outgoing.skipped);
    outlet.handOver(outgoing.message);
    handedOver = true;
    return await send(deps, job, { lease: { ...lease, outlet }, ...outgoing });
  } finally {
    leave();
    if (!handedOver) outlet.unreserve(1);
  }
}

/** Of a message that no attempt has told the parts of: as the connector would send it. */
async function countParts(deps: Sending, job: ClaimedJob, { channel }: Outlet): Promise<number> {
  if (job.progress.parts.length > 0 || !channel.partsOf) return 1;
  const outgoing = await deps.toOutgoing(job, job.expiresAt - deps.clock.now());
  const isSms = outgoing.kind === "ready" && outgoing.message.channel === "sms";
  return (isSms && channel.partsOf(outgoing.message as OutgoingSms)) || 1;
}

/** The outlet a job was claimed for, unless the message is another connector's. */
function rightOutlet(
  deps: Sending,
  job: ClaimedJob,
  lease: Lease,
): { readonly outlet: Outlet } | { readonly owner: string; readonly waitMs: number } {
  const { outlet: claimedFor, failover } = lease;
  const owner = ownerOf(job, failover);
  if (owner === undefined) {
    const other = deps.nextConnector.instead(job.messageId, lease);
    return { outlet: other ? moved(claimedFor, other) : claimedFor };
  }
  if (owner === claimedFor.channel.connectorId) return { outlet: claimedFor };
  const outlet = deps.outletOf(owner);
  if (!outlet?.isUp()) return { owner, waitMs: ELSEWHERE_WAIT_MS.down };
  if (outlet.available() <= 0) return { owner, waitMs: ELSEWHERE_WAIT_MS.full };
  return { outlet: moved(claimedFor, outlet) };
}

/** The reservation is another outlet's from now on. */
function moved(from: Outlet, to: Outlet): Outlet {
  from.unreserve(1);
  to.reserve(1);
  return to;
}

/** The lease outlasts the slowest answer, and a process that is cut off from now on has begun well before it is buried. */
function mayBegin({ clock, signal }: SenderDeps, { outlet, leaseEndsMs, isOurs }: Lease): boolean {
  const latestMs = clock.monotonicMs() + outlet.channel.sendTimeoutMs + LEASE_MARGIN_MS;
  return !signal.aborted && latestMs <= leaseEndsMs && isOurs();
}

async function send(
  deps: Sending,
  job: ClaimedJob,
  handover: { readonly lease: Lease; readonly message: OutgoingMessage; readonly skipped?: Skipped },
): Promise<Settlement> {
  const { channel, noteAttempt } = handover.lease.outlet;
  const startedMs = deps.clock.monotonicMs();
  const sent = await channel.send(handover.message, deps.signal);
  noteAttempt(job, sent);
  const outcome = withSkipped(sent, handover.skipped);
  const verdict = { now: deps.clock.now(), connectorId: channel.connectorId, jitter: deps.random() };
  const settlement = orElsewhere(deps, job, {
    outcome,
    lease: handover.lease,
    judged: judge(job, outcome, verdict),
  });
  note(deps, job, { outcome, settlement, ms: deps.clock.monotonicMs() - startedMs });
  return settlement;
}

/** What was put off goes over the next connector of its route, where one is free. */
function orElsewhere(
  { nextConnector }: Sending,
  job: ClaimedJob,
  attempt: { readonly outcome: SendOutcome; readonly lease: Lease; readonly judged: Settlement },
): Settlement {
  const { outcome, lease, judged } = attempt;
  if (judged.next.kind === "again" && isPutOff(job, outcome, lease.failover)) {
    return nextConnector.deferred(job.messageId, lease) ? judgeElsewhereNow(judged) : judged;
  }
  nextConnector.forget(job.messageId);
  return judged;
}

/** Nobody is left that it may go to. */
function judgeSkipped(deps: SenderDeps, job: ClaimedJob, skipped: Skipped | undefined): Settlement {
  const outcome = withSkipped({ parts: [], countsAsAttempt: false }, skipped);
  const settlement = judge(job, outcome, { now: deps.clock.now(), connectorId: "postrider", jitter: 0 });
  note(deps, job, { outcome, settlement, ms: 0 });
  return settlement;
}

/** A STOP came while it was in the queue. */
const OPTED_OUT = {
  kind: "impossible",
  error: { code: "opted_out", message: "the recipient has opted out of this sender's messages" },
} as const;

function judgeImpossible(
  deps: SenderDeps,
  job: ClaimedJob,
  outgoing: Extract<Outgoing, { kind: "impossible" }>,
): Settlement {
  const length = Math.max(1, job.progress.parts.length);
  const rejected = { kind: "rejected", error: outgoing.error } as const;
  const outcome: SendOutcome = {
    parts: Array.from({ length }, (_, index) =>
      outgoing.only?.includes(index) === false ? undefined : rejected,
    ),
    countsAsAttempt: false,
  };
  const settlement = judge(job, outcome, { now: deps.clock.now(), connectorId: "postrider", jitter: 0 });
  note(deps, job, { outcome, settlement, ms: 0 });
  return settlement;
}

function note(
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

/** Keeps at it while the database is away: what a provider said is not thrown away for a full disk. */
async function settle(deps: SenderDeps, settlement: Settlement): Promise<void> {
  for (;;) {
    try {
      const [isOurs] = await deps.queue.settle([settlement]);
      if (!isOurs)
        deps.log.warn(
          { message_id: settlement.messageId, claim: settlement.claim },
          "a lease was lost before its attempt was recorded",
        );
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || deps.signal.aborted) throw error;
      await sleep(deps.clock, SETTLE_RETRY_MS, deps.signal);
    }
  }
}
