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
  const stopping = new AbortController();
  const sends = createInFlight();
  const loans = createLoans();
  const limit = createConnectionLimit(deps.clock, { most: settings.maxConnections, onRaise: deps.onSlots });
  const health = openHost(settings, deps, { idle, stopping: stopping.signal, onUp: limit.lift });
  const freeSlots = () => (health.isUp() ? Math.max(0, limit.current() - sends.count()) : 0);
  const faults = createFaults({ health, limit, served: () => loans.open() + idle.count() });

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
      if (!signal.aborted) faults.heed(opened.fault);
      return opened;
    },
    giveBack(session) {
      loans.end(session);
      const isSpent = session.messages() >= settings.maxMessagesPerConnection;
      if (isSpent || health.status().state === "down") void session.quit();
      else idle.put(session);
    },
    markDown: faults.markDown,
    async stop() {
      health.stop();
      await Promise.all([sends.whenEmpty(), idle.quitAll()]);
      // The last messages have returned sessions since, and may have lowered the limit.
      await idle.quitAll();
      limit.stop();
      stopping.abort(STOPPED);
    },
  };
}

const STOPPED = "the service stopped";

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

/**
 * What the faults of messages say about the host. When it goes down, the messages under way fail one after the other; together they
 * count as one failure, with one pause. While the host is being probed, only that probe counts: a second one would double the
 * logins.
 */
function createFaults({ health, limit, served }: FaultParts) {
  const markDown = (fault: MessageError) => {
    if (health.isUp()) health.markDown(fault);
  };
  return {
    markDown,
    heed(fault: MessageError) {
      const count = served();
      // RFC 5321 §3.8: one connection too many is no outage, and the others keep working.
      if (count > 0 && isServiceClosing(fault.message)) limit.lower(count);
      else markDown(fault);
    },
  };
}

interface FaultParts {
  readonly health: HostHealth;
  readonly limit: ConnectionLimit;
  /** How many connections are open. */
  readonly served: () => number;
}

/** The host's health. A connection that a probe opens is kept for the first message. */
function openHost(
  settings: SmtpSettings,
  deps: PoolDeps,
  { idle, stopping, onUp }: { idle: IdleSessions; stopping: AbortSignal; onUp: () => void },
) {
  const { clock, random, onStatus, onSlots } = deps;
  const reasonOf = (fault: MessageError) => withTlsAdvice(fault, settings);
  const health = createHostHealth({ clock, random, onStatus, reasonOf, probe: () => void probe() });

  const probe = async () => {
    const opened = await withinLimit(
      clock,
      { limitMs: settings.sendTimeoutMs, signal: stopping },
      (limited) => openSmtpSession(settings, clock, limited),
    );
    if ("fault" in opened) return health.markDown(opened.fault);
    if (health.status().state === "stopped") return void opened.session.quit();
    idle.put(opened.session);
    health.markUp();
    onUp();
    onSlots();
  };
  return health;
}
