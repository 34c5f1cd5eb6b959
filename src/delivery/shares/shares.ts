/**
 * Divides the slots of connectors among the processes that deliver, by leases in the database. With every heartbeat a process
 * renews its leases and reads those of the others; the heartbeat also shows that the process is alive, and keeps its claims. A
 * process uses a slot only while its lease is valid: for `VALID_MS` from the beginning of its last successful heartbeat, by its
 * own clock. The others wait longer than that before they take the slot (ADR 20).
 */
import type { Share } from "../../channels/channel.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { type Claimant, NOBODY_ELSE, NOT_YET } from "../../core/queue/claimant.ts";
import { inTime } from "../../core/work/in-time.ts";
import type { LeaseStore, SlotLease } from "../../store/store.ts";
import { createOwnSlots, type OwnSlots } from "./own-slots.ts";
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

/** This process's share of a connector's slots, until it is closed. */
export interface OwnShare extends Share {
  /** Sets the probe that tells the other processes whether messages can leave, or are to wait, for this process's slots. */
  tellUp(isUp: () => boolean): void;
  /** To be called when the probe's answer may have changed: if it has, the others are told at once. */
  lookUp(): void;
  /** To be called when nothing is sent through the share any more. */
  close(): void;
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
  /** By connector. */
  const ownSlots = new Map<string, OwnSlots>();
  const stopping = new AbortController();
  let { isSharing } = deps;
  const isHeld = ({ process: holder, name, slot }: SlotLease) =>
    holder === process && ownSlots.get(name)?.slots().includes(slot) === true;
  const peerSlots = createPeerSlots({ clock, isHeld });
  const heartbeats = createHeartbeats(deps, {
    ownSlots,
    peerSlots,
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
      const isOurs = heartbeats.validFromNow();
      if (isOurs) return { process, isOurs };
      if (!heartbeats.isValid()) return NOBODY_ELSE;
      // The next heartbeat tells, so it need not be waited for.
      heartbeats.wake();
      return NOT_YET;
    },
    join: createJoin(deps, { ownSlots, peerSlots, heartbeats }),
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

interface JoinParts {
  readonly ownSlots: Map<string, OwnSlots>;
  readonly peerSlots: PeerSlots;
  readonly heartbeats: Pick<ReturnType<typeof createHeartbeats>, "isValid" | "wake">;
}

function createJoin(
  { clock, process }: SharesDeps,
  { ownSlots, peerSlots, heartbeats }: JoinParts,
): Shares["join"] {
  const { isValid, wake } = heartbeats;
  /** For each connector, the shares that are not closed, latest last. The channels of all but the latest are being stopped. */
  const open = new Map<string, readonly OwnSlots[]>();
  return (connector, slots) => {
    const before = ownSlots.get(connector)?.places;
    const own = createOwnSlots({ connector, slots, process, isValid, before, clock, onNews: wake });
    open.set(connector, [...(open.get(connector) ?? []), own]);
    ownSlots.set(connector, own);
    peerSlots.watch(connector, slots);
    wake();
    return {
      ...own.share,
      close() {
        own.close();
        const left = (open.get(connector) ?? []).filter((each) => each !== own);
        const latest = left.at(-1);
        if (latest) {
          open.set(connector, left);
          ownSlots.set(connector, latest);
        } else {
          open.delete(connector);
          ownSlots.delete(connector);
          peerSlots.forget(connector);
        }
        wake();
      },
    };
  };
}

interface HeartbeatsParts {
  readonly ownSlots: ReadonlyMap<string, OwnSlots>;
  readonly peerSlots: Pick<PeerSlots, "note">;
  readonly isSharing: () => boolean;
  readonly signal: AbortSignal;
}

function createHeartbeats(deps: SharesDeps, { ownSlots, signal, ...parts }: HeartbeatsParts) {
  const { clock } = deps;
  const { isValid, validFromNow, renew } = createValidity(clock);
  const { send, hasMore } = createHeartbeat(deps, { ownSlots, ...parts, renew });
  const begun = Promise.withResolvers<void>();
  let woken = new AbortController();

  return {
    begun: begun.promise,
    isValid,
    validFromNow,
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
        if (!isValid()) for (const own of ownSlots.values()) own.letGo(CLOSE_MS);
      }
    },
  };
}

interface HeartbeatParts extends Omit<HeartbeatsParts, "signal"> {
  /** After a successful heartbeat: when it began, and whether the database did not know the process before. */
  readonly renew: (started: Moment, isNew: boolean) => void;
}

/** Single heartbeats. */
function createHeartbeat(
  { leases, clock, log, process, dead }: SharesDeps,
  { ownSlots, peerSlots, isSharing, renew }: HeartbeatParts,
) {
  const register = createRegister({ clock, deadMs: DEAD_MS, ...(dead && { known: dead }) });
  const beat = async () => {
    const started = momentOf(clock);
    const open = [...ownSlots.values()];
    const snapshot = await leases.heartbeat({
      process,
      isSharing: isSharing(),
      keep: open.flatMap((own) => own.kept()),
      take: open.flatMap((own) => own.wanted()),
      now: started.at,
      dead: register.dead(),
    });
    renew(started, snapshot.isNew);
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
    hasMore: () =>
      register.dead().length > 0 || [...ownSlots.values()].some((own) => own.wanted().length > 0),
  };
}

/** A time on both clocks: `ms` on the monotonic one, `at` on the wall. */
interface Moment {
  readonly ms: number;
  readonly at: number;
}

function momentOf(clock: Clock): Moment {
  return { ms: clock.monotonicMs(), at: clock.now() };
}

/** How long leases are valid, counted from the beginning of the last successful heartbeat. */
function createValidity(clock: Clock) {
  let renewed: Moment = { ms: Number.NEGATIVE_INFINITY, at: Number.NEGATIVE_INFINITY };
  /** How many times the leases have become invalid. */
  let gaps = 0;
  const isValid = () => clock.monotonicMs() - renewed.ms < VALID_MS;
  /**
   * While the machine is asleep the monotonic clock of Linux stands still, and the others do not. The wall clock tells; it may also have been set
   * forward, so connections stay open for this, and the next heartbeat decides whether what was claimed is still ours.
   */
  const mayHaveSlept = () => clock.now() - renewed.at >= VALID_MS;
  const isSure = () => isValid() && !mayHaveSlept();
  return {
    isValid,
    /** A function that tells whether the leases have been valid ever since this call; `undefined` if they are not valid now. */
    validFromNow(): (() => boolean) | undefined {
      const before = gaps;
      return isSure() ? () => isSure() && gaps === before : undefined;
    },
    renew(started: Moment, isNew: boolean) {
      // A process that the database no longer knew had been removed as dead.
      if (isNew || !isValid()) gaps++;
      renewed = started;
    },
  };
}
