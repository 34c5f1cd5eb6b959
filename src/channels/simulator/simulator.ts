/**
 * The channel of sandbox accounts. It takes SMS or email, stores them in its ledger, and plays the provider: it delivers to
 * everybody but the magic recipients (`scenario.ts`, `docs/sandbox.md`). Nothing leaves the machine.
 */
import type { ChannelName } from "../../core/messages/message.ts";
import type { SendOutcome } from "../../core/messages/outcome.ts";
import { NOBODY_ELSE } from "../../core/queue/claimant.ts";
import { createIds } from "../../core/uuid.ts";
import { createInFlight } from "../../core/work/in-flight.ts";
import { createSemaphore } from "../../core/work/semaphore.ts";
import type { SandboxLedger } from "../../store/store.ts";
import type { Channel, ChannelDeps, ChannelStatus, OutgoingMessage } from "../channel.ts";
import { attempt, deferMessage } from "./attempt.ts";
import { createEntryWriter, WRITE_LIMIT_MS } from "./entry-writer.ts";
import { createReceiptLoop, type ReceiptLoop } from "./receipt-loop.ts";
import { createRefusalCounts } from "./refusal-counts.ts";
import { targetsOf } from "./targets.ts";

export interface SimulatorDeps
  extends Pick<ChannelDeps, "clock" | "random" | "log" | "onSlots" | "onStatus" | "onReceipts"> {
  readonly channel: ChannelName;
  readonly connectorId: string;
  /** Where it stores the messages that it takes. */
  readonly ledger: Omit<SandboxLedger, "list">;
}

/** How many messages may be in flight at a time. Fewer emails, since one may have 10 MiB. */
const SLOTS: Readonly<Record<ChannelName, number>> = { sms: 1_000, email: 250 };

/** The share of the slots that slow answers may hold, so that other messages do not wait behind them. */
const SLOW_SHARE = 0.25;

/** How long a long email waits for those before it. Then it is deferred, and makes room for others. */
const TURN_MS = 2_000;

/** The slowest answer, a long email's turn, two writes (the one under way, and the message's own), and a second for a busy machine. */
const SEND_TIMEOUT_MS = 5_000 + TURN_MS + 2 * WRITE_LIMIT_MS + 1_000;

const NOT_RUNNING = { code: "simulator.stopped", message: "the simulator is not running" };
const FULL = { code: "simulator.full", message: "the simulator has no free slot" };
const TAKEN_OVER = {
  code: "simulator.taken_over",
  message: "another process may have taken the message over",
};
const FAULT = { code: "simulator.fault", message: "the simulator could not handle the message" };

export function createSimulator(deps: SimulatorDeps): Channel {
  const { clock, channel, connectorId } = deps;
  const slots = createSlots(SLOTS[channel], deps.onSlots);
  const loop = createReceiptLoop(deps);
  const handle = createHandler(deps, loop);
  let stopping = new AbortController();
  let status: ChannelStatus = { state: "stopped", since: clock.now() };

  const enter = (state: "up" | "stopped") => {
    status = { state, since: clock.now() };
    deps.onStatus(status);
  };

  return {
    connectorId,
    isSimulated: true,
    sendTimeoutMs: SEND_TIMEOUT_MS,
    status: () => status,
    freeSlots: () => (status.state === "up" ? slots.free() : 0),
    start() {
      if (status.state === "up") return;
      stopping = new AbortController();
      enter("up");
      loop.start();
      deps.onSlots();
    },
    async send(message, signal, isOurs = NOBODY_ELSE.isOurs) {
      if (status.state !== "up") return deferMessage(message, NOT_RUNNING);
      if (!isOurs()) return deferMessage(message, TAKEN_OVER);
      const isSlow = targetsOf(message).some(({ scenario }) => scenario.answerMs !== undefined);
      const work = slots.hold(isSlow, () => handle(message, signal, stopping.signal));
      return work ?? deferMessage(message, FULL);
    },
    async stop() {
      if (status.state === "up") enter("stopped");
      stopping.abort();
      await Promise.all([slots.idle(), loop.stop()]);
    },
  };
}

type Handler = (message: OutgoingMessage, signal: AbortSignal, stopping: AbortSignal) => Promise<SendOutcome>;

function createHandler(deps: SimulatorDeps, loop: ReceiptLoop): Handler {
  const { clock, random, ledger, log } = deps;
  const writer = createEntryWriter({
    ledger,
    clock,
    log,
    onWritten(entries) {
      for (const { receipt } of entries) if (receipt) loop.wake(receipt.at);
    },
  });
  const newId = createIds(clock, (count) => randomOctets(random, count));
  const longMails = createSemaphore(clock, { count: 1, waitMs: TURN_MS });
  const attemptDeps = { clock, random, newId, writer, longMails, counts: createRefusalCounts(clock) };
  return async (message, signal, stopping) => {
    try {
      return await attempt(attemptDeps, message, { signal, stopping });
    } catch (error) {
      log.warn({ err: error, message_id: message.messageId }, "the simulator could not handle a message");
      return { ...deferMessage(message, FAULT), countsAsAttempt: true };
    }
  };
}

function randomOctets(random: () => number, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
}

interface Slots {
  free(): number;
  /** Runs `work` in a slot; `undefined` if there is none. */
  hold<T>(isSlow: boolean, work: () => Promise<T>): Promise<T> | undefined;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

function createSlots(total: number, onFreed: () => void): Slots {
  const inFlight = createInFlight();
  const slowLimit = Math.floor(total * SLOW_SHARE);
  let slow = 0;
  let willTell = false;

  /** Reports freed slots together, since one write answers many messages. */
  const tellFreed = () => {
    if (willTell) return;
    willTell = true;
    queueMicrotask(() => {
      willTell = false;
      onFreed();
    });
  };

  return {
    free: () => Math.max(0, total - inFlight.count()),
    hold(isSlow, work) {
      if (inFlight.count() >= total || (isSlow && slow >= slowLimit)) return undefined;
      if (isSlow) slow++;
      return inFlight.add(work()).finally(() => {
        if (isSlow) slow--;
        tellFreed();
      });
    },
    idle: inFlight.whenEmpty,
  };
}
