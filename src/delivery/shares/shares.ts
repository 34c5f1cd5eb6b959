/**
 * Divides the slots of connectors among the processes that deliver, by leases in the database. With every heartbeat a process
 * renews its leases and reads those of the others; the heartbeat also shows that the process is alive, and keeps its claims. A
 * process uses a slot only while its lease is valid: for `VALID_MS` from the beginning of its last successful heartbeat, by its
 * own clock. The others wait longer than that before they take the slot (ADR 20).
 */
import { type Clock, sleep } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { type Claimant, NOBODY_ELSE, NOT_YET } from "../../core/queue/claimant.ts";
import { inTime } from "../../core/work/in-time.ts";
import type { LeaseStore } from "../../store/store.ts";
import { createLeaseValidity, type LeaseValidity } from "./lease-validity.ts";
import { createOwnShares, type OwnShare, type OwnShares } from "./own-shares.ts";
import { createPeerSlots, MOVE_MS, type PeerSlots } from "./peer-slots.ts";
import { createRegister } from "./process-register.ts";

/** The time between two heartbeats. */
export const HEARTBEAT_MS = 1_000;

/** How long after the beginning of its last successful heartbeat a process may use its slots. */
export const VALID_MS = 7_000;

/** How long after that, messages under way may still finish. Then the slots' connections are closed. */
export const CLOSE_MS = 3_000;

/** A process without a heartbeat for this long loses its leases and claims. More than `VALID_MS` and `CLOSE_MS` together. */
export const DEAD_MS = 12_000;

/** For a process without a heartbeat for this long the others keep no slots free, since messages only wait `MOVE_MS` for one. */
const SILENT_MS = 3_000;

/** How long a start waits for its first heartbeat. */
const START_MS = 2_000;

/**
 * How long a stop tries to give up its leases; if it fails, the others wait until this process counts as dead. Longer than the
 * 4 s for which one process may hold up the heartbeats of all others.
 */
const STOP_LIMIT = { limitMs: 5_000, late: () => {} };

export interface SharesDeps {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** The name of this process, never used by another one. */
  readonly process: string;
  /** Whether this process takes part in sharing out connectors, until `leaveConnectors`. */
  readonly isSharing: boolean;
  /** Names of processes known to be dead: what they held is taken after the time of two heartbeats, not after `DEAD_MS`. */
  readonly dead?: readonly string[];
}

export interface Shares {
  /** Resolves after the first heartbeat, which lets claims carry this process's name, or after 2 s at the latest. */
  start(): Promise<void>;
  /** Whom to claim for. To be asked before each claim, since it changes when leases are no longer valid. */
  claimant(): Claimant;
  /** Takes a share of a connector with `slots` slots. Joining again takes over the slots of the earlier share. */
  join(connector: string, slots: number): OwnShare;
  /** Whether messages of the connector can leave through another process. */
  isUpElsewhere(connector: string): boolean;
  /** Whether its slots are between two processes; see `PeerSlots`. */
  isMoving(connector: string): boolean;
  /** Leaves all connectors to the others, while heartbeats go on. To be called when the last share is closed. */
  leaveConnectors(): void;
  /** Ends the heartbeats and gives up all leases, within 5 s. */
  stop(): Promise<void>;
}

export function createShares(deps: SharesDeps): Shares {
  const { leases, clock, process } = deps;
  const stopping = new AbortController();
  let { isSharing } = deps;
  const validity = createLeaseValidity(clock, VALID_MS);
  const peerSlots = createPeerSlots({ clock, isHeld: (lease) => ownShares.isHeld(lease) });
  const ownShares = createOwnShares({
    clock,
    process,
    peerSlots,
    isValid: validity.isValid,
    onNews: () => heartbeats.wake(),
  });
  const heartbeats = createHeartbeats(deps, {
    ownShares,
    peerSlots,
    validity,
    isSharing: () => isSharing,
    signal: stopping.signal,
  });
  let running: Promise<unknown> | undefined;
  return {
    start() {
      running = Promise.all([heartbeats.run(), heartbeats.guard()]);
      return Promise.race([heartbeats.begun, sleep(clock, START_MS, stopping.signal)]);
    },
    claimant() {
      const isOurs = validity.validFromNow();
      if (isOurs) return { process, isOurs };
      if (!validity.isValid()) return NOBODY_ELSE;
      // The next heartbeat tells, so it need not be waited for.
      heartbeats.wake();
      return NOT_YET;
    },
    join: ownShares.join,
    isUpElsewhere: peerSlots.isUp,
    isMoving: peerSlots.isMoving,
    leaveConnectors() {
      isSharing = false;
      heartbeats.wake();
    },
    async stop() {
      stopping.abort();
      if (!running) return;
      const left = running.then(() => leases.leave(process)).catch(() => undefined);
      await inTime(clock, STOP_LIMIT, left);
    },
  };
}

interface HeartbeatsParts {
  readonly ownShares: Pick<OwnShares, "latest">;
  readonly peerSlots: Pick<PeerSlots, "note">;
  readonly validity: LeaseValidity;
  readonly isSharing: () => boolean;
  readonly signal: AbortSignal;
}

function createHeartbeats(deps: SharesDeps, { signal, ...parts }: HeartbeatsParts) {
  const { clock } = deps;
  const { ownShares, validity } = parts;
  const { send, hasMore } = createHeartbeat(deps, parts);
  const begun = Promise.withResolvers<void>();
  let woken = new AbortController();

  return {
    begun: begun.promise,
    wake: () => woken.abort(),
    async run() {
      while (!signal.aborted) {
        woken = new AbortController();
        const wentWell = await send();
        begun.resolve();
        if (wentWell && hasMore()) continue;
        await sleep(clock, HEARTBEAT_MS, AbortSignal.any([woken.signal, signal]));
      }
    },
    /** A separate loop, since a heartbeat of `run` may take longer than the leases are valid. */
    async guard() {
      while (!signal.aborted) {
        await sleep(clock, HEARTBEAT_MS / 4, signal);
        if (!validity.isValid()) for (const own of ownShares.latest()) own.letGo(CLOSE_MS);
      }
    },
  };
}

/** Single heartbeats. */
function createHeartbeat(
  { leases, clock, log, process, dead }: SharesDeps,
  { ownShares, peerSlots, validity, isSharing }: Omit<HeartbeatsParts, "signal">,
) {
  const register = createRegister({ clock, deadMs: DEAD_MS, ...(dead && { known: dead }) });
  const beat = async () => {
    const renew = validity.begin();
    const open = ownShares.latest();
    const snapshot = await leases.heartbeat({
      process,
      isSharing: isSharing(),
      keep: open.flatMap((own) => own.kept()),
      take: open.flatMap((own) => own.wanted()),
      now: clock.now(),
      dead: register.dead(),
    });
    renew(snapshot.isNew);
    register.note(snapshot.processes);
    peerSlots.note(snapshot.leases, register.silentFor(MOVE_MS));
    const silent = register.silentFor(SILENT_MS);
    for (const own of open) own.apply(snapshot, silent);
  };
  return {
    /** False if the heartbeat failed, which is logged. */
    async send(): Promise<boolean> {
      try {
        await beat();
        return true;
      } catch (error) {
        log.warn({ err: error }, "leases could not be renewed");
        return false;
      }
    },
    /** Whether another heartbeat is due at once, because there are free slots to take, or dead processes to remove. */
    hasMore: () => register.dead().length > 0 || ownShares.latest().some((own) => own.wanted().length > 0),
  };
}
