import type { Clock } from "../../core/clock.ts";
import type { ChannelName } from "../../core/messages/message.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import type { SandboxEntry } from "../../core/messages/sandbox-entry.ts";
import { inTime } from "../../core/work/in-time.ts";
import type { SandboxLedger } from "../../store/store.ts";
import type { ChannelLog } from "../channel.ts";

export interface ReceiptLoopDeps {
  readonly channel: ChannelName;
  readonly connectorId: string;
  readonly ledger: Pick<SandboxLedger, "dueReceipts" | "nextReceiptAt">;
  readonly clock: Clock;
  readonly onReceipts: (receipts: readonly Receipt[]) => Promise<void>;
  readonly log: ChannelLog;
}

/** Emits the receipts that the ledger owes when they are due. Reads them only from the ledger, so that a crash loses none. */
export interface ReceiptLoop {
  start(): void;
  /** To be called when a receipt will be due at `at`, Unix milliseconds. */
  wake(at: number): void;
  /** Waits for receipts that are being stored, but at most 5 s. */
  stop(): Promise<void>;
}

const BATCH = 500;

/** The shortest rest between turns, so that receipts gather and share a commit. */
const REST_MS = 25;

/** The rest if all receipts that are due are the other channel's, whose own loop will take them. */
const NOT_MINE_REST_MS = 100;

/** The rest after a fault, and if receipts that were just emitted are still owed. */
const FAULT_REST_MS = 1_000;

/** The longest rest between turns. */
const LONGEST_REST_MS = 60_000;

const STOP_LIMIT = { limitMs: 5_000, late: () => {} };

/** Its states: stopped → resting (a timer runs) ⇄ turning. */
export function createReceiptLoop(deps: ReceiptLoopDeps): ReceiptLoop {
  const { clock } = deps;
  const turn = createTurn(deps);
  let isRunning = false;
  let turning: Promise<void> | undefined;
  let cancelTimer = () => {};
  let nextTurnMs = Number.POSITIVE_INFINITY;

  const turnAfter = (delayMs: number) => {
    const atMs = clock.monotonicMs() + delayMs;
    if (!isRunning || atMs >= nextTurnMs) return;
    nextTurnMs = atMs;
    cancelTimer();
    cancelTimer = turning ? () => {} : clock.after(delayMs, begin);
  };

  const begin = () => {
    nextTurnMs = Number.POSITIVE_INFINITY;
    turning = turn().then((restMs) => {
      const wokenMs = nextTurnMs - clock.monotonicMs();
      nextTurnMs = Number.POSITIVE_INFINITY;
      turning = undefined;
      turnAfter(Math.min(restMs, Math.max(REST_MS, wokenMs)));
    });
  };

  return {
    start() {
      isRunning = true;
      turnAfter(0);
    },
    wake: (at) => turnAfter(Math.max(REST_MS, at - clock.now())),
    async stop() {
      isRunning = false;
      cancelTimer();
      nextTurnMs = Number.POSITIVE_INFINITY;
      if (turning) await inTime(clock, STOP_LIMIT, turning);
    },
  };
}

/** Makes the function of a turn: it emits at most a batch, and resolves with how long to rest, milliseconds. Never rejects. */
function createTurn(deps: ReceiptLoopDeps): () => Promise<number> {
  let lastFirstId: string | undefined;

  const emit = async (): Promise<number> => {
    const { ledger, clock, onReceipts } = deps;
    const due = await ledger.dueReceipts(clock.now(), BATCH);
    const receipts = due.flatMap((owed) => toReceipt(deps, owed));
    const firstId = receipts[0]?.providerMessageId;
    if (receipts.length > 0) await onReceipts(receipts);
    if (firstId !== undefined && firstId === lastFirstId) return FAULT_REST_MS;
    lastFirstId = firstId;
    if (due.length > 0 && receipts.length === 0) return NOT_MINE_REST_MS;
    if (due.length === BATCH) return 0;
    const nextAt = await ledger.nextReceiptAt();
    return nextAt === undefined ? LONGEST_REST_MS : inBounds(nextAt - clock.now());
  };

  return () =>
    emit().catch((error) => {
      deps.log.warn({ err: error }, "the simulator's receipts could not be read or stored; trying again");
      return FAULT_REST_MS;
    });
}

function toReceipt(deps: ReceiptLoopDeps, { id, channel, receipt }: SandboxEntry): readonly Receipt[] {
  if (channel !== deps.channel || !receipt) return [];
  const { status, error } = receipt;
  return [
    {
      connectorId: deps.connectorId,
      providerMessageId: id,
      status,
      ...(error && { error }),
      receivedAt: deps.clock.now(),
    },
  ];
}

function inBounds(restMs: number): number {
  return Math.min(LONGEST_REST_MS, Math.max(REST_MS, restMs));
}
