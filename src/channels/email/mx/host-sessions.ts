import type { Clock } from "../../../core/clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import type { ConnectionSource, Fault, LentSession } from "../smtp/hand-over.ts";
import { createIdleSessions, type IdleSessions } from "../smtp/idle-sessions.ts";
import { isServiceClosing } from "../smtp/smtp-replies.ts";
import { openSmtpSession, type SmtpSession } from "../smtp/smtp-session.ts";
import { FULL_MS, type FullHosts } from "./full-hosts.ts";
import { type HostAddress, placeOf, sessionSettings } from "./host-address.ts";
import type { HostVisit, HostVisits } from "./host-visits.ts";
import type { MxSettings } from "./mx-config.ts";

/** Connections to many hosts, reused while they are idle for a short time. */
export interface HostSessions {
  readonly connectionsTo: (host: HostAddress) => ConnectionSource;
  readonly quitAll: () => Promise<void>;
}

/** The host has just refused a connection as one too many. Mail goes on over the others, so that there is a turn to wait for. */
export const TOO_MANY: Fault = {
  code: "mx.busy",
  message: "the mail host takes no more connections at a time",
};

/** How many hosts are remembered before some are dropped. */
const MANY = 5_000;

/** The connections to one place (`placeOf`): those that wait for a message, and how many are being opened or carry one. */
interface Line {
  readonly address: string;
  readonly idle: IdleSessions;
  opening: number;
  lent: number;
}

export interface HostSessionsDeps {
  readonly clock: Clock;
  readonly visits: HostVisits;
  readonly full: FullHosts;
  /** Called when this machine turns out not to have `local_address`. */
  readonly onMissingAddress: (fault: MessageError) => void;
}

export function createHostSessions(settings: MxSettings, deps: HostSessionsDeps): HostSessions {
  const { clock, visits } = deps;
  const lines = createLines(settings, clock);
  const visitOver = new WeakMap<SmtpSession, HostVisit>();
  const open = createOpening(settings, deps, lines.connectionsAt);
  return {
    connectionsTo(host) {
      const line = lines.of(host);
      return {
        async connect({ isFresh, signal }) {
          const visit = visits.begin(host);
          if ("fault" in visit) return visit;
          const waiting = isFresh ? undefined : line.idle.take();
          const lent = waiting
            ? { session: waiting, isReused: true }
            : await endUnlessLent(visit, open(host, { line, visit, signal }));
          if ("fault" in lent) return lent;
          line.lent++;
          visitOver.set(lent.session, visit);
          return lent;
        },
        giveBack(session, report) {
          line.lent--;
          visitOver.get(session)?.end(report);
          if (!session.isOpen()) return;
          const isSpent = session.messages() >= settings.session.maxMessagesPerConnection;
          if (isSpent || lines.idleCount() >= settings.maxConnections) void session.quit();
          else line.idle.put(session);
        },
      };
    },
    quitAll: lines.quitAll,
  };
}

function createLines(settings: MxSettings, clock: Clock) {
  const lines = new Map<string, Line>();
  return {
    of(host: HostAddress): Line {
      const key = placeOf(host);
      const known = lines.get(key);
      if (known) return known;
      if (lines.size >= MANY)
        for (const [each, line] of lines) if (connectionsOf(line) === 0) lines.delete(each);
      const idle = createIdleSessions(clock, settings.session.idleTimeoutMs);
      const made = { address: host.address, idle, opening: 0, lent: 0 };
      lines.set(key, made);
      return made;
    },
    /** By any line to the address: some domains want proof of its name, and others do not. */
    connectionsAt: (address: string) =>
      [...lines.values()].reduce(
        (sum, line) => (line.address === address ? sum + connectionsOf(line) : sum),
        0,
      ),
    idleCount: () => [...lines.values()].reduce((sum, { idle }) => sum + idle.count(), 0),
    async quitAll(): Promise<void> {
      await Promise.all([...lines.values()].map(({ idle }) => idle.quitAll()));
    },
  };
}

/** A visit goes on for as long as its connection is lent. */
async function endUnlessLent(visit: HostVisit, opening: Promise<LentSession>): Promise<LentSession> {
  let isLent = false;
  try {
    const lent = await opening;
    isLent = "session" in lent;
    return lent;
  } finally {
    if (!isLent) visit.end();
  }
}

interface Opening {
  readonly line: Line;
  readonly visit: HostVisit;
  readonly signal: AbortSignal;
}

/**
 * Opens a connection to a host, unless the host has failed and it is not the time to try it again.
 *
 * @param connectionsAt how many there are to an address, with those that are being opened
 */
function createOpening(
  settings: MxSettings,
  { clock, full, onMissingAddress }: HostSessionsDeps,
  connectionsAt: (address: string) => number,
) {
  return async (host: HostAddress, { line, visit, signal }: Opening): Promise<LentSession> => {
    // Over those that there are, this mail must not go: they are for mail that wants proof of another name, or of none.
    if (connectionsAt(host.address) >= full.mostAt(host.address))
      return { fault: { ...TOO_MANY, retryAfterMs: FULL_MS } };
    const known = visit.connecting();
    if (known) return { fault: known };
    line.opening++;
    const opened = await openSmtpSession(sessionSettings(settings, host), clock, signal).finally(
      () => line.opening--,
    );
    if ("session" in opened) {
      visit.connected();
      return { ...opened, isReused: false };
    }
    const { fault, reply = "", lacksLocalAddress } = opened;
    // RFC 5321 §3.8: one connection too many is no outage, and the others keep working.
    const others = connectionsAt(host.address);
    if (isServiceClosing(reply) && others > 0) {
      full.refused(host.address, others);
      return { fault: TOO_MANY };
    }
    // It says nothing of the host.
    if (lacksLocalAddress) onMissingAddress(fault);
    else if (!signal.aborted) visit.failed(fault, reply);
    return { fault };
  };
}

function connectionsOf({ idle, opening, lent }: Line): number {
  return opening + lent + idle.count();
}
