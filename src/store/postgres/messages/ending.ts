import { isSettled } from "../../../core/messages/progress.ts";
import type { Step } from "../../../core/messages/step.ts";
import type { StoredSettings } from "../../../core/records/settings.ts";
import type { Session } from "../database/driver.ts";
import { readSettings } from "../records/account-settings.ts";
import type { LockedMessage, MessageLog } from "./message-log.ts";

/** Saves a step that ends a message, or some of its parts, without an attempt, and wipes a body that is not needed any more. */
export function endMessage(
  log: MessageLog,
  message: LockedMessage,
  { step, settings }: { readonly step: Step; readonly settings: StoredSettings },
): void {
  log.save(message, step);
  wipe(log, message, { isOver: isSettled(step.progress), settings });
}

/**
 * Ends the waiting jobs of messages that have been settled without them, and wipes their bodies. An attempt under way is
 * left to its settlement, which does both. Jobs that others have locked are left as well, since the messages may be locked
 * before them here. A process that claims such a job finds its message settled.
 */
export async function endWaiting(
  session: Session,
  log: MessageLog,
  messageIds: ReadonlySet<string>,
): Promise<void> {
  if (messageIds.size === 0) return;
  const rows = await session.query<{ message_id: string }>(END_WAITING, [[...messageIds]]);
  const messages = rows.flatMap((row) => log.find(row.message_id) ?? []);
  const settingsOf = await readSettings(
    session,
    messages.map(({ accountId }) => accountId),
  );
  for (const message of messages)
    wipe(log, message, { isOver: true, settings: settingsOf(message.accountId) });
}

/** Returns the messages that have no other job. `OFFSET 0` keeps the planner from comparing all jobs with these. */
const END_WAITING = `WITH ended AS (
    DELETE FROM jobs WHERE id = ANY(ARRAY(
      SELECT id FROM jobs WHERE message_id = ANY($1) AND NOT is_leased FOR UPDATE SKIP LOCKED))
    RETURNING id, message_id
  )
  SELECT DISTINCT message_id FROM ended WHERE NOT EXISTS (
    SELECT 1 FROM jobs j WHERE j.message_id = ended.message_id AND j.id <> ALL (SELECT id FROM ended) OFFSET 0)`;

/** Wipes the body of a message that is over, unless its account keeps bodies. */
export function wipe(
  log: MessageLog,
  message: LockedMessage,
  { isOver, settings }: { readonly isOver: boolean; readonly settings: StoredSettings },
): void {
  if (settings.keep_bodies === "true") log.keepBatch(message);
  else if (isOver) log.wipeSingle(message);
}
