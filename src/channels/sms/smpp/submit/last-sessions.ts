import type { Session } from "../session/session.ts";

/** Over which sessions long messages went last, so that their segments all go over one, also those of a later attempt. */
export interface LastSessions {
  of(messageId: string): Session | undefined;
  note(messageId: string, session: Session): void;
}

/** How many messages are remembered. Those whose last segment went out the longest ago are forgotten first. */
const MAX_REMEMBERED = 10_000;

export function createLastSessions(): LastSessions {
  const sessions = new Map<string, Session>();
  return {
    of: (messageId) => sessions.get(messageId),
    note(messageId, session) {
      sessions.delete(messageId);
      sessions.set(messageId, session);
      const [oldest] = sessions.keys();
      if (sessions.size > MAX_REMEMBERED && oldest !== undefined) sessions.delete(oldest);
    },
  };
}
