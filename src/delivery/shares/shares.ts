/**
 * Divides the slots of connectors among the processes that deliver, by leases in the database. In every turn a process
 * renews its leases, which also shows the others that it lives and keeps its claims, and reads those of the others. It
 * uses a slot only while the lease is sure: for `SURE_MS` from the beginning of the last successful turn, by its own
 * clock. The others wait longer than that before they take the slot (ADR 20).
 */
import type { Share } from "../../channels/channel.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import { type Claimant, NOBODY_ELSE } from "../../core/queue/claimant.ts";
import type { LeaseStore, SlotLease } from "../../store/store.ts";
import type { DeliveryLog } from "../engine.ts";
import { createElsewhere, type Elsewhere, MOVE_MS } from "./elsewhere.ts";
import { createHolding, type Holding } from "./holding.ts";
import { createRegister } from "./process-register.ts";

/** Between two turns. */
export const TURN_MS = 1_000;

/** How long after the beginning of its last successful turn a process may use its slots. */
export const SURE_MS = 7_000;

/** How long after that messages under way may still finish; then the slots' connections are closed. */
export const CLOSE_MS = 3_000;

/** A process without a turn for this long loses its leases and claims. More than `SURE_MS` and `CLOSE_MS` together. */
export const DEAD_MS = 12_000;

/** How long a start waits for its first turn. */
const START_MS = 2_000;

/** How long a stop waits to give up its leases. If it cannot, others wait until this process counts as dead. */
const STOP_MS = 2_000;

export interface SharesDeps {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly log: Pick<DeliveryLog, "warn">;
  /** The name of this process, never used by another one. */
  readonly process: string;
  /** Whether this process takes part in sharing out connectors, until `leaveConnectors`. */
  readonly isSharing: boolean;
  /** Names of processes known to be dead: what they held is taken after two turns' time instead of `DEAD_MS`. */
  readonly dead?: readonly string[];
}

/** This process's share of a connector's slots, until it is closed. */
export interface OwnShare extends Share {
  /** Sets the probe that tells the other processes whether messages can leave, or are to wait, for this process's slots. */
  tellUp(isUp: () => boolean): void;
  /** What the probe says may have changed: tells the others at once if it has. */
  lookUp(): void;
  /** Call it when nothing is sent through the share any more. */
  close(): void;
}

export interface Shares {
  /** Resolves after the first turn, which lets claims carry this process's name, or after 2 s at the latest. */
  start(): Promise<void>;
  /** Whom to claim for. Ask before each claim: it changes when leases are no longer sure. */
  claimant(): Claimant;
  /** Takes a share of a connector with `slots` slots. Joining again takes over the slots of the earlier share. */
  join(connector: string, slots: number): OwnShare;
  /** Whether messages of the connector can leave through another process. */
  isUpElsewhere(connector: string): boolean;
  /** Whether its slots are between two processes; see `Elsewhere`. */
  isMoving(connector: string): boolean;
  /** Leaves all connectors to the others, while turns go on. Call it when the last share is closed. */
  leaveConnectors(): void;
  /** Ends the turns and gives up all leases, within 2 s. */
  stop(): Promise<void>;
}

export function createShares(deps: SharesDeps): Shares {
  const { leases, clock, process } = deps;
  const holdings = new Map<string, Holding>();
  const stopping = new AbortController();
  let { isSharing } = deps;
  const isHeld = ({ process: holder, name, slot }: SlotLease) =>
    holder === process && holdings.get(name)?.slots().includes(slot) === true;
  const elsewhere = createElsewhere({ clock, isHeld });
  const turns = createTurns(deps, {
    holdings,
    elsewhere,
    isSharing: () => isSharing,
    signal: stopping.signal,
  });
  let running: Promise<unknown> | undefined;
  return {
    start() {
      running = Promise.all([turns.run(), turns.guard()]);
      return Promise.race([turns.begun, sleep(clock, START_MS, stopping.signal)]);
    },
    claimant() {
      const isOurs = turns.sureFromNow();
      return isOurs ? { process, isOurs } : NOBODY_ELSE;
    },
    join: createJoin(deps, { holdings, elsewhere, turns }),
    isUpElsewhere: elsewhere.isUp,
    isMoving: elsewhere.isMoving,
    leaveConnectors() {
      isSharing = false;
      turns.wake();
    },
    async stop() {
      stopping.abort();
      if (!running) return;
      const left = running.then(() => leases.leave(process)).catch(() => undefined);
      await Promise.race([left, sleep(clock, STOP_MS)]);
    },
  };
}

interface JoinParts {
  readonly holdings: Map<string, Holding>;
  readonly elsewhere: Elsewhere;
  readonly turns: Pick<ReturnType<typeof createTurns>, "isSure" | "wake">;
}

function createJoin(
  { clock, process }: SharesDeps,
  { holdings, elsewhere, turns }: JoinParts,
): Shares["join"] {
  const { isSure, wake } = turns;
  return (connector, slots) => {
    const has = holdings.get(connector)?.slots() ?? [];
    const holding = createHolding({ connector, slots, process, isSure, has, clock, onNews: wake });
    holdings.set(connector, holding);
    elsewhere.watch(connector, slots);
    wake();
    return {
      ...holding.share,
      close() {
        if (holdings.get(connector) === holding) {
          holdings.delete(connector);
          elsewhere.forget(connector);
        }
        wake();
      },
    };
  };
}

interface TurnsParts {
  readonly holdings: ReadonlyMap<string, Holding>;
  readonly elsewhere: Pick<Elsewhere, "note">;
  readonly isSharing: () => boolean;
  readonly signal: AbortSignal;
}

function createTurns(deps: SharesDeps, { holdings, signal, ...parts }: TurnsParts) {
  const { clock } = deps;
  const { isSure, sureFromNow, renew } = createSureTime(clock);
  const { take, hasMore } = createTurn(deps, { holdings, ...parts, renew });
  const begun = Promise.withResolvers<void>();
  let woken = new AbortController();

  return {
    begun: begun.promise,
    isSure,
    sureFromNow,
    wake: () => woken.abort(),
    async run() {
      while (!signal.aborted) {
        woken = new AbortController();
        const wentWell = await take();
        begun.resolve();
        if (wentWell && hasMore()) continue;
        await sleep(clock, TURN_MS, AbortSignal.any([woken.signal, signal]));
      }
    },
    /** A loop of its own, since a turn of `run` may take longer than the leases are safe. */
    async guard() {
      while (!signal.aborted) {
        await sleep(clock, TURN_MS / 4, signal);
        if (!isSure()) for (const holding of holdings.values()) holding.letGo(CLOSE_MS);
      }
    },
  };
}

interface TurnParts extends Omit<TurnsParts, "signal"> {
  /** After a successful turn: when it began (monotonic ms), and whether the database did not know the process before. */
  readonly renew: (startedMs: number, isNew: boolean) => void;
}

/** Single turns. */
function createTurn(
  { leases, clock, log, process, dead }: SharesDeps,
  { holdings, elsewhere, isSharing, renew }: TurnParts,
) {
  const register = createRegister({ clock, deadMs: DEAD_MS, ...(dead && { known: dead }) });
  const turn = async () => {
    const startedMs = clock.monotonicMs();
    const open = [...holdings.values()];
    const board = await leases.turn({
      process,
      isSharing: isSharing(),
      keep: open.flatMap((holding) => holding.kept()),
      take: open.flatMap((holding) => holding.wanted()),
      now: clock.now(),
      dead: register.dead(),
    });
    renew(startedMs, board.isNew);
    register.note(board.processes);
    elsewhere.note(board.leases, register.silentFor(MOVE_MS));
    for (const holding of open) holding.look(board);
  };
  return {
    /** False if the turn failed, which is logged. */
    async take(): Promise<boolean> {
      try {
        await turn();
        return true;
      } catch (error) {
        log.warn({ err: error }, "leases could not be renewed");
        return false;
      }
    },
    /** Whether another turn is due at once: there are free slots to take, or dead processes to remove. */
    hasMore: () =>
      register.dead().length > 0 || [...holdings.values()].some((holding) => holding.wanted().length > 0),
  };
}

/** How long leases are sure, counted from the beginning of the last successful turn. */
function createSureTime(clock: Clock) {
  let untilMs = Number.NEGATIVE_INFINITY;
  /** How often leases have not been sure in between. */
  let gaps = 0;
  const isSure = () => clock.monotonicMs() < untilMs;
  return {
    isSure,
    /** A function that tells whether leases have been sure ever since this call; `undefined` if they are not now. */
    sureFromNow(): (() => boolean) | undefined {
      const before = gaps;
      return isSure() ? () => isSure() && gaps === before : undefined;
    },
    renew(startedMs: number, isNew: boolean) {
      // A process that the database no longer knew had been removed as dead.
      if (isNew || !isSure()) gaps++;
      untilMs = startedMs + SURE_MS;
    },
  };
}
