import type { MessageError } from "../../../core/message.ts";
import type { ChannelDeps, ChannelStatus } from "../../channel.ts";
import { createHostHealth } from "./host-health.ts";
import { createIdleSessions } from "./idle-sessions.ts";
import type { SmtpSettings } from "./smtp-config.ts";
import { type OpenedSession, openSmtpSession, type SmtpSession } from "./smtp-session.ts";

/** Connections to one host: opened when needed, used again, and none asked for while the host is down. */
export interface SmtpPool {
  readonly start: () => void;
  readonly status: () => ChannelStatus;
  /** 0 while the host is not known to be up. */
  readonly freeSlots: () => number;
  /** Aborts, with a reason (a string), when messages under way shall end. */
  readonly cut: AbortSignal;
  /** Takes a slot, if there is one, for as long as `work` runs. */
  readonly withSlot: <T>(work: () => Promise<T>) => Promise<T> | undefined;
  /** A connection that waits, else a new one. A fault is the host's, and begins a pause. */
  readonly connect: (options: {
    readonly isFresh: boolean;
    readonly cut: AbortSignal;
  }) => Promise<LentSession>;
  /** Takes a connection back, if it is still open; closes it if it has carried enough. */
  readonly giveBack: (session: SmtpSession) => void;
  /** The server refuses our session: begins a pause. */
  readonly markDown: (fault: MessageError) => void;
  /** Takes no more, waits up to 10 s for messages under way, then cuts them; says goodbye to the host. */
  readonly stop: () => Promise<void>;
}

export type LentSession =
  | { readonly session: SmtpSession; readonly isReused: boolean }
  | { readonly fault: MessageError };

const DRAIN_LIMIT_MS = 10_000;

type PoolDeps = Pick<ChannelDeps, "clock" | "random" | "onSlots" | "onStatus">;

export function createSmtpPool(settings: SmtpSettings, deps: PoolDeps): SmtpPool {
  const { clock } = deps;
  const idle = createIdleSessions(clock, settings.idleTimeoutMs);
  const stopping = new AbortController();
  const slots = createSlots();
  const open = (cut: AbortSignal) => openSmtpSession(settings, clock, cut);

  const health = createHostHealth({
    clock,
    random: deps.random,
    onStatus: deps.onStatus,
    probe: () => void open(stopping.signal).then(judge).then(keep),
  });
  const judge = (opened: OpenedSession): OpenedSession => {
    if ("fault" in opened) health.markDown(opened.fault);
    return opened;
  };
  const keep = (opened: OpenedSession) => {
    if ("fault" in opened) return;
    if (health.status().state === "stopped") return void opened.session.quit();
    idle.put(opened.session);
    health.markUp();
    deps.onSlots();
  };
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
      const opened = judge(await open(cut));
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
      const cancel = clock.after(DRAIN_LIMIT_MS, () => stopping.abort("the service stopped"));
      await Promise.all([slots.allFree(), idle.quitAll()]);
      await idle.quitAll();
      cancel();
      stopping.abort("the service stopped");
    },
  };
}

/** Counts what is under way. */
function createSlots() {
  const held = new Set<Promise<unknown>>();
  return {
    taken: () => held.size,
    async hold<T>(work: () => Promise<T>): Promise<T> {
      const done = work();
      held.add(done);
      try {
        return await done;
      } finally {
        held.delete(done);
      }
    },
    async allFree(): Promise<void> {
      await Promise.allSettled([...held]);
    },
  };
}
