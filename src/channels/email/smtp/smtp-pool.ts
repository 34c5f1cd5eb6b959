import type { MessageError } from "../../../core/messages/message.ts";
import { createInFlight } from "../../../core/work/in-flight.ts";
import type { ChannelDeps, ChannelStatus } from "../../channel.ts";
import { type ConnectionLimit, createConnectionLimit } from "./connection-limit.ts";
import type { ConnectionSource } from "./hand-over.ts";
import { createHostHealth, type HostHealth } from "./host-health.ts";
import { createIdleSessions, type IdleSessions } from "./idle-sessions.ts";
import type { SmtpSettings } from "./smtp-config.ts";
import { isServiceClosing } from "./smtp-replies.ts";
import { openSmtpSession, type SmtpSession } from "./smtp-session.ts";
import { withTlsAdvice } from "./with-tls-advice.ts";
import { withinLimit } from "./within-limit.ts";

/**
 * Connections to one host, opened when needed and reused. When one cannot be opened, the host counts as down and is left
 * alone for a while; if it was refused with 421 while others are open, only fewer are opened for a while.
 */
export interface SmtpPool extends ConnectionSource {
  readonly start: () => void;
  readonly status: () => ChannelStatus;
  /** 0 while the host is not known to be up. */
  readonly freeSlots: () => number;
  /** Takes a slot, if there is one, for as long as `work` runs. */
  readonly withSlot: <T>(work: () => Promise<T>) => Promise<T> | undefined;
  /** To be called when the server refuses our session: marks the host as down for a while. */
  readonly markDown: (fault: MessageError) => void;
  /** Takes no more messages, and closes connections with QUIT. Those under way are waited for: each has a time limit of its own. */
  readonly stop: () => Promise<void>;
}

type PoolDeps = Pick<ChannelDeps, "clock" | "random" | "onSlots" | "onStatus">;

export function createSmtpPool(settings: SmtpSettings, deps: PoolDeps): SmtpPool {
  const idle = createIdleSessions(deps.clock, settings.idleTimeoutMs);
  const sends = createInFlight();
  const loans = createLoans();
  const limit = createConnectionLimit(deps.clock, { most: settings.maxConnections, onRaise: deps.onSlots });
  const health = openHealth(settings, deps, { idle, limit });
  const freeSlots = () => (health.isUp() ? Math.max(0, limit.current() - sends.count()) : 0);
  const heed = (fault: MessageError) => {
    const served = loans.open() + idle.count();
    // RFC 5321 §3.8: one connection too many is no outage, and the others keep working.
    if (served > 0 && isServiceClosing(fault.message)) limit.lower(served);
    else health.markDown(fault);
  };

  return {
    start: health.start,
    status: health.status,
    freeSlots,
    withSlot: (work) => (freeSlots() > 0 ? sends.add(work()).finally(deps.onSlots) : undefined),
    async connect({ isFresh, signal }) {
      const waiting = isFresh ? undefined : idle.take();
      if (waiting) return loans.lend(waiting, true);
      const opened = await openSmtpSession(settings, deps.clock, signal);
      if ("session" in opened) return loans.lend(opened.session, false);
      // Being called off says nothing about the host.
      if (!signal.aborted) heed(opened.fault);
      return opened;
    },
    giveBack(session) {
      loans.end(session);
      const isSpent = session.messages() >= settings.maxMessagesPerConnection;
      if (isSpent || health.status().state === "down") void session.quit();
      else idle.put(session);
    },
    markDown: health.markDown,
    async stop() {
      await Promise.all([health.stop(), sends.whenEmpty(), idle.quitAll()]);
      // The last messages, and the last try, have returned sessions since, and may have lowered the limit.
      await idle.quitAll();
      limit.stop();
    },
  };
}

/** The connections that carry a message at the moment. */
function createLoans() {
  const lent = new Set<SmtpSession>();
  return {
    lend(session: SmtpSession, isReused: boolean) {
      lent.add(session);
      return { session, isReused };
    },
    end: (session: SmtpSession) => void lent.delete(session),
    open: () => [...lent].filter((session) => session.isOpen()).length,
  };
}

/** The host's health. A connection that a try opens is kept for the first message. */
function openHealth(
  settings: SmtpSettings,
  { clock, random, onStatus, onSlots }: PoolDeps,
  { idle, limit }: { readonly idle: IdleSessions; readonly limit: ConnectionLimit },
): HostHealth {
  const probe = async (signal: AbortSignal) => {
    const within = { limitMs: settings.sendTimeoutMs, signal };
    const opened = await withinLimit(clock, within, (limited) => openSmtpSession(settings, clock, limited));
    if ("fault" in opened) return opened.fault;
    idle.put(opened.session);
    return undefined;
  };
  const onUp = () => {
    limit.lift();
    onSlots();
  };
  const reasonOf = (fault: MessageError) => withTlsAdvice(fault, settings);
  return createHostHealth({ clock, random, probe, onUp, onStatus, reasonOf });
}
