import type { Clock } from "../../../core/clock.ts";
import type { SmtpSession } from "./smtp-session.ts";

/** Open connections that wait for the next message; each is closed after `idleTimeoutMs`. */
export interface IdleSessions {
  readonly put: (session: SmtpSession) => void;
  /** The most recently used one, so that those not needed time out and are closed. */
  readonly take: () => SmtpSession | undefined;
  /** Those that the server has closed are not counted. */
  readonly count: () => number;
  /** Closes all with QUIT; takes at most as long as one `quit`. */
  readonly quitAll: () => Promise<void>;
}

export function createIdleSessions(clock: Clock, idleTimeoutMs: number): IdleSessions {
  const waiting = new Map<SmtpSession, () => void>();

  const remove = (session: SmtpSession) => {
    waiting.get(session)?.();
    return waiting.delete(session);
  };

  return {
    put(session) {
      if (!session.isOpen()) return;
      waiting.set(
        session,
        clock.after(idleTimeoutMs, () => {
          remove(session);
          void session.quit();
        }),
      );
    },
    take() {
      for (const session of [...waiting.keys()].reverse()) {
        remove(session);
        if (session.isOpen()) return session;
      }
      return undefined;
    },
    count: () => [...waiting.keys()].filter((session) => session.isOpen()).length,
    async quitAll() {
      const sessions = [...waiting.keys()];
      for (const session of sessions) remove(session);
      await Promise.all(sessions.map((session) => session.quit()));
    },
  };
}
