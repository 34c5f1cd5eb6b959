import type { Outbox } from "../../store.ts";
import type { CommitNotifier } from "../database/commit-notifier.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { fromLane } from "./from-lane.ts";
import { createWebhookClaim } from "./webhook-claim.ts";
import { createWebhookList } from "./webhook-list.ts";
import type { WebhookLog } from "./webhook-log.ts";
import { createWebhookReplay } from "./webhook-replay.ts";
import { createWebhookSettle } from "./webhook-settle.ts";
import { createWebhookStage } from "./webhook-stage.ts";

/** What the outbox shares with the rest of the store. */
export interface OutboxParts {
  readonly accounts: AccountCache;
  readonly log: WebhookLog;
  /** Notified of each lane that has a new ready event. */
  readonly notifier: CommitNotifier<string>;
}

/** The `Outbox` on SQLite, put together from its parts. */
export function createOutbox(db: Database, parts: OutboxParts): Outbox {
  const { accounts, notifier } = parts;
  return {
    ...createWebhookClaim(db, parts),
    settle: createWebhookSettle(db, parts),
    ...createWebhookStage(db, notifier),
    ...createWebhookList(db, accounts),
    ...createWebhookReplay(db, parts),
    onReady: (listener) => notifier.subscribe((lane) => listener(fromLane(accounts, lane))),
  };
}
