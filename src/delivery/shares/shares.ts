/**
 * Takes turns, which show the others that this process lives and keeps its claims, and shares connectors out over the
 * processes that deliver. A slot is used only while its lease is sure: until a while
 * after the beginning of the last turn that went well, by this process's own clock, and others wait for longer than
 * that before they take it (ADR 20).
 */
import type { Share } from "../../channels/channel.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import { type Claimant, NOBODY_ELSE } from "../../core/queue/claimant.ts";
import type { LeaseBoard, LeaseStore } from "../../store/store.ts";
import type { DeliveryLog } from "../engine.ts";
import { createHolding, type Holding } from "./holding.ts";
import { createRegister } from "./process-register.ts";

/** So often leases are renewed, and the others looked at. */
export const TURN_MS = 1_000;

/** After so long without a turn that went well nothing more is handed to the slots, */
export const SURE_MS = 7_000;

/** and so much later they are closed, whatever is under way on them. */
export const CLOSE_MS = 3_000;

/** A process that others have seen stand still for so long has lost what it had. More than the two together. */
export const DEAD_MS = 12_000;

/** How long a start waits for its first turn. */
const START_MS = 2_000;

/** How long a stop waits for the database: without its word others wait until this process counts as dead. */
const STOP_MS = 2_000;

export interface SharesDeps {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly log: Pick<DeliveryLog, "warn">;
  /** A name that no process has or had. */
  readonly process: string;
  /** Whether this process takes part in sharing out connectors, until `leaveConnectors`. */
  readonly isSharing: boolean;
  /** Processes that are said to be dead: what they had is taken after two turns in which they do not show. Absent: none is. */
  readonly dead?: readonly string[];
}

/** A part of a connector, until it is closed. */
export interface OwnShare extends Share {
  /** What others are told: messages can leave by this process's slots. */
  tellUp(isUp: () => boolean): void;
  /** To be called when nothing is sent any more. */
  close(): void;
}

export interface Shares {
  /**
   * Resolves after the first turn, or when it has taken too long: what is claimed from then on can be in this process's name.
   */
  start(): Promise<void>;
  /** To be asked before each claim. */
  claimant(): Claimant;
  /** Takes part in a connector of so many slots. A second part of the same one goes on with what the first had. */
  join(connector: string, slots: number): OwnShare;
  /** Messages of the connector can leave by another process. */
  isUpElsewhere(connector: string): boolean;
  /** Leaves all connectors to the others; turns go on. To be called when the last share is closed. */
  leaveConnectors(): void;
  /** Gives up everything. */
  stop(): Promise<void>;
}

export function createShares(deps: SharesDeps): Shares {
  const { leases, clock, process } = deps;
  const holdings = new Map<string, Holding>();
  const stopping = new AbortController();
  let { isSharing } = deps;
  const turns = createTurns(deps, { holdings, isSharing: () => isSharing, signal: stopping.signal });
  let running: Promise<unknown> | undefined;
  return {
    start() {
      running ??= Promise.all([turns.run(), turns.guard()]);
      return Promise.race([turns.begun, sleep(clock, START_MS, stopping.signal)]);
    },
    claimant() {
      const isOurs = turns.sureFromNow();
      return isOurs ? { process, isOurs } : NOBODY_ELSE;
    },
    join(connector, slots) {
      const has = holdings.get(connector)?.slots() ?? [];
      const holding = createHolding({ connector, slots, process, isSure: turns.isSure, has });
      holdings.set(connector, holding);
      turns.wake();
      return {
        ...holding.share,
        close() {
          if (holdings.get(connector) === holding) holdings.delete(connector);
          turns.wake();
        },
      };
    },
    isUpElsewhere: (connector) =>
      turns.board().leases.some((each) => each.name === connector && each.process !== process && each.isUp),
    leaveConnectors() {
      isSharing = false;
      turns.wake();
    },
    async stop() {
      stopping.abort();
      if (!running) return;
      const left = running.then(() => leases.leave(process)).catch(() => undefined);
      await Promise.race([left, sleep(clock, STOP_MS, new AbortController().signal)]);
    },
  };
}

interface TurnsParts {
  readonly holdings: ReadonlyMap<string, Holding>;
  readonly isSharing: () => boolean;
  readonly signal: AbortSignal;
}

function createTurns(deps: SharesDeps, { holdings, isSharing, signal }: TurnsParts) {
  const { clock } = deps;
  const { isSure, sureFromNow, renew } = createSureTime(clock);
  const { take, hasMore, board } = createTurn(deps, { holdings, isSharing, renew });
  const begun = Promise.withResolvers<void>();
  let woken = new AbortController();

  const letGoUnlessSure = () => {
    if (!isSure()) for (const holding of holdings.values()) holding.letGo(CLOSE_MS);
  };
  return {
    begun: begun.promise,
    isSure,
    sureFromNow,
    board,
    wake: () => woken.abort(),
    async run() {
      while (!signal.aborted) {
        woken = new AbortController();
        const wentWell = await take();
        begun.resolve();
        letGoUnlessSure();
        if (wentWell && hasMore()) continue;
        await sleep(clock, TURN_MS, AbortSignal.any([woken.signal, signal]));
      }
    },
    /** A turn may take longer than leases are sure for. */
    async guard() {
      while (!signal.aborted) {
        await sleep(clock, TURN_MS / 4, signal);
        letGoUnlessSure();
      }
    },
  };
}

interface TurnParts extends Pick<TurnsParts, "holdings" | "isSharing"> {
  /** Of a turn that went well: when it began, and whether the process was not known before it. */
  readonly renew: (startedMs: number, isNew: boolean) => void;
}

/** One turn after the other, and what the last one has shown. */
function createTurn(
  { leases, clock, log, process, dead }: SharesDeps,
  { holdings, isSharing, renew }: TurnParts,
) {
  const register = createRegister({ clock, deadMs: DEAD_MS, ...(dead && { known: dead }) });
  let board: LeaseBoard = { processes: [], leases: [], isNew: false };
  const turn = async () => {
    const startedMs = clock.monotonicMs();
    const open = [...holdings.values()];
    board = await leases.turn({
      process,
      isSharing: isSharing(),
      keep: open.flatMap((holding) => holding.kept()),
      take: open.flatMap((holding) => holding.wanted()),
      now: clock.now(),
      dead: register.dead(process),
    });
    renew(startedMs, board.isNew);
    register.note(board.processes);
    for (const holding of open) holding.look(board);
  };
  return {
    board: () => board,
    /** False where it did not go well. */
    async take(): Promise<boolean> {
      try {
        await turn();
        return true;
      } catch (error) {
        log.warn({ err: error }, "leases could not be renewed");
        return false;
      }
    },
    /** For another turn at once: slots that are free, or someone to bury. */
    hasMore: () =>
      register.dead(process).length > 0 ||
      [...holdings.values()].some((holding) => holding.wanted().length > 0),
  };
}

/** What turns that went well are good for, by when each of them began. */
function createSureTime(clock: Clock) {
  let untilMs = Number.NEGATIVE_INFINITY;
  /** Rises with every gap between them. */
  let gaps = 0;
  const isSure = () => clock.monotonicMs() < untilMs;
  return {
    isSure,
    /** Tells whether it has been sure all the time since; `undefined`: it is not. */
    sureFromNow(): (() => boolean) | undefined {
      const before = gaps;
      return isSure() ? () => isSure() && gaps === before : undefined;
    },
    renew(startedMs: number, isNew: boolean) {
      // Whoever has to make itself known again was buried meanwhile.
      if (isNew || !isSure()) gaps++;
      untilMs = startedMs + SURE_MS;
    },
  };
}
