import { present } from "../../../core/present.ts";
import type { EventKey, WebhookSelection } from "../../../core/webhooks/webhook-outbox.ts";
import type { Outbox } from "../../store.ts";
import { isReplayed, isUntried, WEBHOOK_COLUMNS, type WebhookRow } from "../../webhooks/webhook-rows.ts";
import type { CommitNotifier } from "../database/commit-notifier.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { createWalk } from "./webhook-list.ts";
import type { WebhookLog } from "./webhook-log.ts";

export interface ReplayParts {
  readonly accounts: AccountCache;
  readonly log: WebhookLog;
  readonly notifier: Pick<CommitNotifier<string>, "notify">;
}

/** `Outbox.replay` and `Outbox.replayAll`. */
export function createWebhookReplay(
  db: Database,
  { accounts, log, notifier }: ReplayParts,
): Pick<Outbox, "replay" | "replayAll"> {
  const find = db.prepare<WebhookRow>(
    `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE message_id = ? AND sequence = ?`,
  );
  // Raises the claim, so that the result of an earlier delivery that is still under way no longer counts.
  const begin = db.prepare(
    "UPDATE webhooks SET state = ?, due_at = NULL, failures = 0, claim = claim + 1 WHERE id = ?",
  );
  const walk = createWalk(db, accounts);

  const restart = (row: WebhookRow, state: "ready" | "held") => {
    begin.run(state, row.id);
    if (state === "ready") notifier.notify(row.lane);
  };
  const replayOne = ({ messageId, sequence }: EventKey) => {
    const row = find.get(messageId, sequence);
    if (!row || row.state === "leased") return false;
    restart(row, "ready");
    return true;
  };
  /** Events of one message keep their order. */
  const replayAgain = ({ message_id: messageId, sequence }: WebhookRow, selection: WebhookSelection) => {
    const row = find.get(messageId, sequence);
    if (!row || !isReplayed(row.state, selection)) return 0;
    const isBlocked = log.isBlocked({ messageId, sequence });
    restart(row, isBlocked ? "held" : "ready");
    const next = find.get(messageId, sequence + 1);
    if (next && isUntried(next)) restart(next, "held");
    return 1;
  };
  return {
    replay: (event) => db.write(() => replayOne(event)),
    async replayAll(selection, page) {
      const { rows, next } = await walk(selection, page);
      const replayRows = () => rows.reduce((count, row) => count + replayAgain(row, selection), 0);
      return { replayed: await db.write(replayRows, page.limit), ...present({ next }) };
    },
  };
}
