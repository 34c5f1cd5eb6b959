import { isUuid } from "../../../core/uuid.ts";
import { toWebhookId } from "../../../core/webhooks/webhook-event.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { Notifier } from "../../notifier.ts";
import type { Outbox } from "../../store.ts";
import { isAtRest, isBlocking, type WebhookRow } from "../../webhooks/webhook-rows.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";
import { walk } from "./webhook-list.ts";
import { ACCOUNT_ID, type LaneRow, type LockedWebhook, lanesOf, lockWebhooks } from "./webhook-locks.ts";

/** `Outbox.replay` and `Outbox.replayAll`. */
export function createWebhookReplay(
  db: Database,
  notifier: Pick<Notifier<Lane>, "notify">,
): Pick<Outbox, "replay" | "replayAll"> {
  return {
    async replay({ messageId, sequence }) {
      if (!isUuid(messageId)) return false;
      const rows = await db.query<LaneRow>(REPLAY, [messageId, sequence]);
      notifier.notify(lanesOf(rows));
      return rows.length > 0;
    },
    async replayAll(selection, page) {
      const { replayed, next } = await db.transaction(async (session) => {
        const { rows, next } = await walk(session, selection, page);
        return { replayed: await replayAgain(session, rows), next };
      });
      notifier.notify(lanesOf(replayed.filter(({ state }) => state === "ready")));
      return { replayed: replayed.length, ...(next !== undefined && { next }) };
    },
  };
}

/** Raises the claim, so that the result of an earlier delivery that is still under way no longer counts. */
const BEGIN = "due_at = NULL, failures = 0, claim = w.claim + 1";

const REPLAY = `UPDATE webhooks w SET state = 'ready', ${BEGIN}
  WHERE w.message_id = $1 AND w.sequence = $2 AND w.state <> 'leased'
  RETURNING ${ACCOUNT_ID} AS account_id, w.lane`;

/** Begins again with the webhooks that are at rest. Those of one message keep their order. */
async function replayAgain(session: Session, rows: readonly WebhookRow[]): Promise<readonly LockedWebhook[]> {
  if (rows.length === 0) return [];
  const locked = await lockWebhooks(
    session,
    rows.map(({ id }) => id),
    -1,
  );
  const current = new Map(
    [...locked.values()].map((row) => [toWebhookId(row.message_id, row.sequence), row]),
  );
  const replayed: LockedWebhook[] = [];
  for (const { id } of rows) {
    const row = locked.get(id);
    if (!row || !isAtRest(row.state)) continue;
    const before = current.get(toWebhookId(row.message_id, row.sequence - 1));
    const begun = { ...row, state: before && isBlocking(before) ? "held" : "ready", failures: 0 } as const;
    current.set(toWebhookId(row.message_id, row.sequence), begun);
    replayed.push(begun);
  }
  await session.query(REPLAY_ALL, [replayed.map(({ id }) => id), replayed.map(({ state }) => state)]);
  return replayed;
}

const REPLAY_ALL = `UPDATE webhooks w SET state = t.state, ${BEGIN}
  FROM unnest($1::bigint[], $2::text[]) AS t (id, state) WHERE w.id = ANY(ARRAY[t.id])`;
