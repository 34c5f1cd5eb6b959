import type { MessageError } from "../../../core/messages/message.ts";
import type { ChannelDeps, ChannelStatus } from "../../channel.ts";
import { openCut } from "./cut.ts";
import type { Line } from "./hand-over.ts";
import { createHostHealth } from "./host-health.ts";
import { createIdleSessions, type IdleSessions } from "./idle-sessions.ts";
import { createSlots } from "./slots.ts";
import type { SmtpSettings } from "./smtp-config.ts";
import { type OpenedSession, openSmtpSession } from "./smtp-session.ts";

/** Connections to one host (a fault is the host's, and begins a pause): opened when needed, used again, and none asked for while the host is down. */
export interface SmtpPool extends Line {
  readonly start: () => void;
  readonly status: () => ChannelStatus;
  /** 0 while the host is not known to be up. */
  readonly freeSlots: () => number;
  /** Aborts, with a reason (a string), when messages under way shall end. */
  readonly cut: AbortSignal;
  /** Takes a slot, if there is one, for as long as `work` runs. */
  readonly withSlot: <T>(work: () => Promise<T>) => Promise<T> | undefined;
  /** The server refuses our session: begins a pause. */
  readonly markDown: (fault: MessageError) => void;
  /** Takes no more, waits up to 10 s for messages under way, then cuts them; says goodbye to the host. */
  readonly stop: () => Promise<void>;
}

type PoolDeps = Pick<ChannelDeps, "clock" | "random" | "onSlots" | "onStatus">;

export function createSmtpPool(settings: SmtpSettings, deps: PoolDeps): SmtpPool {
  const idle = createIdleSessions(deps.clock, settings.idleTimeoutMs);
  const stopping = new AbortController();
  const slots = createSlots();
  const { health, connectNew } = openHost(settings, deps, { idle, stopping: stopping.signal });
  const freeSlots = () => (health.isUp() ? Math.max(0, settings.maxConnections - slots.taken()) : 0);

  return {
    start: health.start,
    status: health.status,
    freeSlots,
    cut: stopping.signal,
    withSlot: (work) => (freeSlots() > 0 ? slots.hold(work).finally(deps.onSlots) : undefined),
    async connect({ isFresh, cut }) {
      const waiting = isFresh ? undefined : idle.take();
      if (waiting) return { session: waiting, isReused: true };
      const opened = await connectNew(cut);
      return "fault" in opened ? opened : { ...opened, isReused: false };
    },
    giveBack(session) {
      if (!session.isOpen()) return;
      const isSpent = session.messages() >= settings.maxMessagesPerConnection;
      if (isSpent || health.status().state === "down") void session.quit();
      else idle.put(session);
    },
    markDown: health.markDown,
    async stop() {
      health.stop();
      const cancel = deps.clock.after(DRAIN_LIMIT_MS, () => stopping.abort(STOPPED));
      await Promise.all([slots.allFree(), idle.quitAll()]);
      // Those that the last messages gave back.
      await idle.quitAll();
      cancel();
      stopping.abort(STOPPED);
    },
  };
}

const DRAIN_LIMIT_MS = 10_000;
const STOPPED = "the service stopped";

/** The host's health, judged by every new connection to it; what a probe opens is kept for the first message. */
function openHost(
  settings: SmtpSettings,
  deps: PoolDeps,
  { idle, stopping }: { idle: IdleSessions; stopping: AbortSignal },
) {
  const { clock, random, onStatus, onSlots } = deps;
  const health = createHostHealth({ clock, random, onStatus, probe: () => void probe() });

  const connectNew = async (cut: AbortSignal): Promise<OpenedSession> => {
    const opened = await openSmtpSession(settings, clock, cut);
    // Being called off says nothing about the host.
    if ("fault" in opened && !cut.aborted) health.markDown(opened.fault);
    return opened;
  };
  const probe = async () => {
    const cut = openCut(clock, settings.sendTimeoutMs, [stopping]);
    const opened = await openSmtpSession(settings, clock, cut.signal);
    cut.release();
    if ("fault" in opened) return health.markDown(opened.fault);
    if (stopping.aborted) return void opened.session.quit();
    idle.put(opened.session);
    health.markUp();
    onSlots();
  };
  return { health, connectNew };
}
