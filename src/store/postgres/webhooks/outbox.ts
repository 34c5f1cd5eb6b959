import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { Outbox } from "../../store.ts";
import type { Bell } from "../database/bell.ts";
import type { Doors } from "../database/transactions.ts";
import { createWebhookClaim } from "./webhook-claim.ts";
import { createWebhookList } from "./webhook-list.ts";
import { createWebhookReplay } from "./webhook-replay.ts";
import { createWebhookSettle } from "./webhook-settle.ts";
import { createWebhookStage } from "./webhook-stage.ts";

/** What the outbox shares with the rest of the store. */
export interface OutboxParts {
  /** Rung with lanes that have new ready events. */
  readonly bell: Bell<Lane>;
  readonly schedule: (run: () => void) => void;
}

/** The `Outbox` on PostgreSQL, put together from its parts. */
export function createOutbox(doors: Doors, { bell, schedule }: OutboxParts): Outbox {
  const db = doors.database;
  const settle = createWebhookSettle(doors.within, { bell, schedule });
  return {
    ...createWebhookClaim(db, bell),
    settle: (settlements) => doors.admit(() => settle(settlements)),
    ...createWebhookStage(db, bell),
    ...createWebhookList(db),
    ...createWebhookReplay(db, bell),
    onReady: bell.onRing,
  };
}
