import type { Clock } from "../../../core/clock.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { Notifier } from "../../notifier.ts";
import type { Outbox } from "../../store.ts";
import type { ClosableDatabase } from "../database/transactions.ts";
import { createWebhookClaim } from "./webhook-claim.ts";
import { createWebhookList } from "./webhook-list.ts";
import { createWebhookReplay } from "./webhook-replay.ts";
import { createWebhookSettle } from "./webhook-settle.ts";
import { createWebhookStage } from "./webhook-stage.ts";

/**
 * The `Outbox` on PostgreSQL, put together from its parts.
 *
 * @param notifier of lanes that have new ready events
 */
export function createOutbox(closable: ClosableDatabase, notifier: Notifier<Lane>, clock: Clock): Outbox {
  const db = closable.database;
  const settle = createWebhookSettle(closable.within, notifier);
  return {
    ...createWebhookClaim(db, notifier, clock),
    settle: (settlements) => closable.admit(() => settle(settlements)),
    ...createWebhookStage(db, notifier, clock),
    ...createWebhookList(db),
    ...createWebhookReplay(db, notifier),
    onReady: notifier.subscribe,
  };
}
