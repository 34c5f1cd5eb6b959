import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { Outbox } from "../../store.ts";
import type { Notifier } from "../database/notifier.ts";
import type { ClosableDatabase } from "../database/transactions.ts";
import { createWebhookClaim } from "./webhook-claim.ts";
import { createWebhookList } from "./webhook-list.ts";
import { createWebhookReplay } from "./webhook-replay.ts";
import { createWebhookSettle } from "./webhook-settle.ts";
import { createWebhookStage } from "./webhook-stage.ts";

/** What the outbox shares with the rest of the store. */
export interface OutboxParts {
  /** Notified of lanes that have new ready events. */
  readonly notifier: Notifier<Lane>;
  readonly schedule: (run: () => void) => void;
}

/** The `Outbox` on PostgreSQL, put together from its parts. */
export function createOutbox(closable: ClosableDatabase, { notifier, schedule }: OutboxParts): Outbox {
  const db = closable.database;
  const settle = createWebhookSettle(closable.within, { notifier, schedule });
  return {
    ...createWebhookClaim(db, notifier),
    settle: (settlements) => closable.admit(() => settle(settlements)),
    ...createWebhookStage(db, notifier),
    ...createWebhookList(db),
    ...createWebhookReplay(db, notifier),
    onReady: notifier.subscribe,
  };
}
