import type { Clock } from "../../../core/clock.ts";
import type { SmtpSession } from "./smtp-session.ts";

/** Connections that wait for the next message. */
export interface IdleSessions {
  readonly put: (session: SmtpSession) => void;
  /** The one used last: the others may then grow old and be closed. */
  readonly take: () => SmtpSession | undefined;
  readonly count: () => number;
  /** Says goodbye to all; bounded by `quit`. */
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
    count: () => waiting.size,
    async quitAll() {
      const sessions = [...waiting.keys()];
      for (const session of sessions) remove(session);
      await Promise.all(sessions.map((session) => session.quit()));
    },
  };
}
