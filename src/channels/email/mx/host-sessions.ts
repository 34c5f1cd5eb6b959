import type { Clock } from "../../../core/clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import type { ConnectionSource, LentSession } from "../smtp/hand-over.ts";
import { createIdleSessions, type IdleSessions } from "../smtp/idle-sessions.ts";
import { isServiceClosing, type TransactionReport } from "../smtp/smtp-replies.ts";
import { openSmtpSession, type SmtpSession } from "../smtp/smtp-session.ts";
import { asksToWait } from "./asks-to-wait.ts";
import { COME_BACK_MS } from "./destination-limits.ts";
import { createHostFaults, type HostFaults } from "./host-faults.ts";
import { createHostRests, type Visit } from "./host-rests.ts";
import type { MxSettings } from "./mx-config.ts";

/** One address of a mail host, and whether its certificate has to prove the host's name. */
export interface HostAddress {
  readonly name: string;
  readonly address: string;
  /** True: by MTA-STS, the certificate must be valid for the name. False: TLS is used if it is offered. */
  readonly mustProve: boolean;
}

/** Connections to many hosts, reused while they are idle for a short time. */
export interface HostSessions {
  /**
   * `connect` gives the fault `TOO_MANY` where the host refuses one connection more than it has of ours, and `RESTING` where it takes
   * no mail from us for now, and was not asked.
   */
  readonly connectionsTo: (host: HostAddress) => ConnectionSource;
  /** Whether the address could not be connected to lately, so that others should be tried first. */
  readonly hasFailed: (host: HostAddress) => boolean;
  /** After how many milliseconds a message that is given `RESTING` should come back; `undefined`: the host may be asked. */
  readonly restMs: (host: HostAddress) => number | undefined;
  /** Whether it rests since it refused our connection, and not a mail. */
  readonly isShut: (host: HostAddress) => boolean;
  readonly quitAll: () => Promise<void>;
}

export const TOO_MANY: MessageError = {
  code: "mx.busy",
  message: "the mail host takes no more connections at a time",
};

export const RESTING: MessageError = {
  code: "mx.resting",
  message: "the mail host takes no mail from this server for now, and is asked again soon",
};

/** How many hosts are remembered before some are dropped. */
const MANY = 5_000;

/** The connections to one address: those that wait for a message, and how many are being opened or carry one. */
interface Line {
  readonly address: string;
  readonly idle: IdleSessions;
  opening: number;
  lent: number;
  /** Until then the host is asked for no connection beside those that it has: it has refused one as one too many. */
  fullUntilMs: number;
}

export function createHostSessions(settings: MxSettings, clock: Clock): HostSessions {
  const lines = createLines(settings, clock);
  const rests = createHostRests(clock);
  const visits = new WeakMap<SmtpSession, Visit>();
  const faults = createHostFaults(clock);
  const open = createOpening(settings, { clock, faults, isInUse: lines.isInUse });
  return {
    connectionsTo(host) {
      const line = lines.of(host);
      return {
        async connect({ isFresh, signal }) {
          const visit = rests.begin(host.name);
          if (!visit) return { fault: RESTING };
          const waiting = isFresh ? undefined : line.idle.take();
          const lent = waiting
            ? { session: waiting, isReused: true }
            : await endUnlessLent(visit, open(host, { line, visit, signal }));
          if ("fault" in lent) return lent;
          line.lent++;
          visits.set(lent.session, visit);
          return lent;
        },
        giveBack(session, report) {
          line.lent--;
          endVisit(visits.get(session), report);
          if (!session.isOpen()) return;
          const isSpent = session.messages() >= settings.session.maxMessagesPerConnection;
          if (isSpent || lines.idleCount() >= settings.maxConnections) void session.quit();
          else line.idle.put(session);
        },
      };
    },
    isShut: (host) => rests.isShut(host.name),
    hasFailed: (host) => faults.hasFailed(placeOf(host)),
    restMs: (host) => rests.restMs(host.name),
    quitAll: lines.quitAll,
  };
}

function createLines(settings: MxSettings, clock: Clock) {
  const lines = new Map<string, Line>();
  return {
    of({ address, name, mustProve }: HostAddress): Line {
      const key = `${address} ${name} ${mustProve}`;
      const known = lines.get(key);
      if (known) return known;
      if (lines.size >= MANY) for (const [each, line] of lines) if (!isUsed(line)) lines.delete(each);
      const idle = createIdleSessions(clock, settings.session.idleTimeoutMs);
      const made = { address, idle, opening: 0, lent: 0, fullUntilMs: 0 };
      lines.set(key, made);
      return made;
    },
    /** By any line to the address: many domains name the same host differently. */
    isInUse: (address: string) =>
      [...lines.values()].some((line) => line.address === address && isUsed(line)),
    idleCount: () => [...lines.values()].reduce((sum, { idle }) => sum + idle.count(), 0),
    async quitAll(): Promise<void> {
      await Promise.all([...lines.values()].map(({ idle }) => idle.quitAll()));
    },
  };
}

/** A visit goes on for as long as its connection is lent. */
async function endUnlessLent(visit: Visit, opening: Promise<LentSession>): Promise<LentSession> {
  let isLent = false;
  try {
    const lent = await opening;
    isLent = "session" in lent;
    return lent;
  } finally {
    if (!isLent) visit.end();
  }
}

/** What is said to RCPT TO is about the recipient, whom many hosts greylist. */
function endVisit(visit: Visit | undefined, report: TransactionReport | undefined): void {
  const end = report?.end;
  if (end?.kind === "taken") visit?.heed("taken");
  else if (end && "reply" in end) visit?.heed(asksToWait(end.reply) ? "wait" : "answered");
  else if (end?.kind === "recipients_refused") visit?.heed("answered");
  visit?.end();
}

interface OpeningParts {
  readonly clock: Clock;
  readonly faults: HostFaults;
  /** Whether there are other connections to the address. */
  readonly isInUse: (address: string) => boolean;
}

interface Opening {
  readonly line: Line;
  readonly visit: Visit;
  readonly signal: AbortSignal;
}

/** Opens a connection to a host, unless the host has failed and it is not the time to try it again. */
function createOpening(settings: MxSettings, { clock, faults, isInUse }: OpeningParts) {
  return async (host: HostAddress, { line, visit, signal }: Opening): Promise<LentSession> => {
    if (line.fullUntilMs > clock.monotonicMs() && isInUse(host.address)) return { fault: TOO_MANY };
    const tried = faults.begin(placeOf(host));
    if ("fault" in tried) return tried;
    try {
      line.opening++;
      const opened = await openSmtpSession(sessionSettings(settings, host), clock, signal).finally(
        () => line.opening--,
      );
      if ("session" in opened) {
        tried.reached();
        return { ...opened, isReused: false };
      }
      const { fault, reply = "" } = opened;
      // RFC 5321 §3.8: one connection too many is no outage, and the others keep working.
      if (isServiceClosing(reply) && isInUse(host.address)) {
        line.fullUntilMs = clock.monotonicMs() + COME_BACK_MS;
        return { fault: TOO_MANY };
      }
      if (asksToWait(reply)) visit.heed("shut");
      else if (!signal.aborted) tried.failed(fault);
      return { fault };
    } finally {
      tried.end();
    }
  };
}

function isUsed({ idle, opening, lent }: Line): boolean {
  return opening + lent + idle.count() > 0;
}

/** What a fault is about: the address, or also its certificate. */
function placeOf({ address, name, mustProve }: HostAddress): string {
  return mustProve ? `${address} ${name}` : address;
}

export function sessionSettings({ session }: MxSettings, { name, address, mustProve }: HostAddress) {
  const tls = mustProve ? ("required" as const) : ("opportunistic" as const);
  return { ...session, host: address, servername: name, tls };
}
