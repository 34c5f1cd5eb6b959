import type { Clock } from "../../../core/clock.ts";
import type { ConnectionSource } from "../smtp/hand-over.ts";
import { createIdleSessions, type IdleSessions } from "../smtp/idle-sessions.ts";
import { openSmtpSession } from "../smtp/smtp-session.ts";
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
  readonly connectionsTo: (host: HostAddress) => ConnectionSource;
  /** Whether the address could not be connected to lately, so that others should be tried first. */
  readonly hasFailed: (host: HostAddress) => boolean;
  readonly quitAll: () => Promise<void>;
}

/** For how long an address that could not be connected to is tried last. */
const TRIED_LAST_MS = 60_000;

/** How many hosts, and failed addresses, are remembered before some are dropped. */
const MANY = 5_000;

export function createHostSessions(settings: MxSettings, clock: Clock): HostSessions {
  const lines = new Map<string, IdleSessions>();
  const triedLastUntil = new Map<string, number>();

  const idleOf = (key: string): IdleSessions => {
    const known = lines.get(key);
    if (known) return known;
    if (lines.size >= MANY) for (const [each, idle] of lines) if (idle.count() === 0) lines.delete(each);
    const made = createIdleSessions(clock, settings.session.idleTimeoutMs);
    lines.set(key, made);
    return made;
  };
  const idleCount = () => [...lines.values()].reduce((sum, idle) => sum + idle.count(), 0);
  const noteFault = (address: string) => {
    if (triedLastUntil.size >= MANY) triedLastUntil.clear();
    triedLastUntil.set(address, clock.monotonicMs() + TRIED_LAST_MS);
  };

  return {
    connectionsTo(host) {
      const idle = idleOf(`${host.address} ${host.name} ${host.mustProve}`);
      return {
        async connect({ isFresh, signal }) {
          const waiting = isFresh ? undefined : idle.take();
          if (waiting) return { session: waiting, isReused: true };
          const opened = await openSmtpSession(sessionSettings(settings, host), clock, signal);
          if (!("fault" in opened)) triedLastUntil.delete(host.address);
          else if (!signal.aborted) noteFault(host.address);
          return "fault" in opened ? opened : { ...opened, isReused: false };
        },
        giveBack(session) {
          if (!session.isOpen()) return;
          const isSpent = session.messages() >= settings.session.maxMessagesPerConnection;
          if (isSpent || idleCount() >= settings.maxConnections) void session.quit();
          else idle.put(session);
        },
      };
    },
    hasFailed: ({ address }) => (triedLastUntil.get(address) ?? 0) > clock.monotonicMs(),
    async quitAll() {
      await Promise.all([...lines.values()].map((idle) => idle.quitAll()));
    },
  };
}

export function sessionSettings({ session }: MxSettings, { name, address, mustProve }: HostAddress) {
  const tls = mustProve ? ("required" as const) : ("opportunistic" as const);
  return { ...session, host: address, servername: name, tls };
}
