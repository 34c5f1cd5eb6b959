import { isUuid } from "../../../core/uuid.ts";
import { toWebhookId } from "../../../core/webhooks/webhook-event.ts";
import type { Lane, WebhookSelection } from "../../../core/webhooks/webhook-outbox.ts";
import type { Notifier } from "../../notifier.ts";
import type { Outbox } from "../../store.ts";
import { isBlocking, isReplayed, isUntried, type WebhookRow } from "../../webhooks/webhook-rows.ts";
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
        return { replayed: await replayAgain(session, rows, selection), next };
      });
      notifier.notify(lanesOf(replayed.changed.filter(({ state }) => state === "ready")));
      return { replayed: replayed.count, ...(next !== undefined && { next }) };
    },
  };
}

/** Raises the claim, so that the result of an earlier delivery that is still under way no longer counts. */
const BEGIN = "due_at = NULL, failures = 0, claim = w.claim + 1";

const REPLAY = `UPDATE webhooks w SET state = 'ready', ${BEGIN}
  WHERE w.message_id = $1 AND w.sequence = $2 AND w.state <> 'leased'
  RETURNING ${ACCOUNT_ID} AS account_id, w.lane`;

interface Replayed {
  readonly count: number;
  /** The webhooks that were replayed, and those that wait for them now. */
  readonly changed: readonly LockedWebhook[];
}

/** Begins again with those of the webhooks that a replay takes. Those of one message keep their order. */
async function replayAgain(
  session: Session,
  rows: readonly WebhookRow[],
  selection: WebhookSelection,
): Promise<Replayed> {
  if (rows.length === 0) return { count: 0, changed: [] };
  const ids = rows.map(({ id }) => id);
  const locked = await lockWebhooks(session, ids, [-1, 1]);
  const current = new Map([...locked.values()].map((row) => [keyOf(row), row]));
  const changed = new Map<number, LockedWebhook>();
  const begin = (row: LockedWebhook, state: "ready" | "held") => {
    const begun = { ...row, state, failures: 0 };
    current.set(keyOf(row), begun);
    changed.set(row.id, begun);
  };
  let count = 0;
  for (const id of ids) {
    const row = locked.get(id);
    if (!row || !isReplayed(row.state, selection)) continue;
    const before = current.get(keyOf(row, -1));
    const next = current.get(keyOf(row, 1));
    begin(row, before && isBlocking(before) ? "held" : "ready");
    if (next && isUntried(next)) begin(next, "held");
    count++;
  }
  const begun = [...changed.values()];
  await session.query(REPLAY_ALL, [begun.map(({ id }) => id), begun.map(({ state }) => state)]);
  return { count, changed: begun };
}

/** Names the webhook, or the one that comes `step` after it. */
function keyOf({ message_id, sequence }: WebhookRow, step = 0): string {
  return toWebhookId(message_id, sequence + step);
}

const REPLAY_ALL = `UPDATE webhooks w SET state = t.state, ${BEGIN}
  FROM unnest($1::bigint[], $2::text[]) AS t (id, state) WHERE w.id = ANY(ARRAY[t.id])`;
