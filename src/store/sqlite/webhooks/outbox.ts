import type { Outbox } from "../../store.ts";
import type { Bell } from "../database/bell.ts";
import type { Database } from "../database/database.ts";
import type { AccountBook } from "../records/account-book.ts";
import { createWebhookClaim } from "./webhook-claim.ts";
import { createWebhookList } from "./webhook-list.ts";
import type { WebhookLog } from "./webhook-log.ts";
import { createWebhookReplay } from "./webhook-replay.ts";
import { fromLane } from "./webhook-rows.ts";
import { createWebhookSettle } from "./webhook-settle.ts";
import { createWebhookStage } from "./webhook-stage.ts";

/** What the outbox shares with the rest of the store. */
export interface OutboxParts {
  readonly accounts: AccountBook;
  readonly log: WebhookLog;
  /** Rung with each lane that has a new ready event. */
  readonly bell: Bell<string>;
}

/** The `Outbox` on SQLite, put together from its parts. */
export function createOutbox(db: Database, parts: OutboxParts): Outbox {
  const { accounts, bell } = parts;
  return {
    ...createWebhookClaim(db, parts),
    settle: createWebhookSettle(db, parts),
    ...createWebhookStage(db, bell),
    ...createWebhookList(db, accounts),
    ...createWebhookReplay(db, parts),
    onReady: (listener) => bell.onRing((lane) => listener(fromLane(accounts, lane))),
  };
}
