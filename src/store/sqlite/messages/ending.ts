import { isSettled } from "../../../core/messages/progress.ts";
import type { Step } from "../../../core/messages/step.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import type { Database } from "../database/database.ts";
import { OF_MESSAGE } from "../queue/jobs-of-message.ts";
import type { AccountCache } from "../records/account-cache.ts";
import type { Contents } from "./contents.ts";
import type { MessageLog } from "./message-log.ts";

export interface EndingParts {
  readonly accounts: AccountCache;
  readonly contents: Contents;
  readonly messages: MessageLog;
}

/** Saves a step that ends a message, or some of its parts, without an attempt, and wipes its body if that is no longer needed. */
export function createEnding(parts: EndingParts) {
  const wipe = createWipe(parts);
  return (message: MessageRow, step: Step): void => {
    parts.messages.save(message, step);
    wipe(message, isSettled(step.progress));
  };
}

/**
 * Ends the waiting job of a message that has been settled without it, and wipes the message's body. If an attempt is under way, its
 * settlement does both.
 */
export function createEndWaiting(db: Database, parts: Pick<EndingParts, "accounts" | "contents">) {
  const wipe = createWipe(parts);
  const remove = db.prepare(`DELETE FROM jobs WHERE ${OF_MESSAGE} AND is_leased = 0`);
  const hasJob = db.prepare(`SELECT 1 FROM jobs WHERE ${OF_MESSAGE} LIMIT 1`);
  return (message: MessageRow): void => {
    remove.run(message.id);
    if (!hasJob.get(message.id)) wipe(message, true);
  };
}

/** Wipes the body of a message that is over, unless its account keeps bodies. */
export function createWipe({ accounts, contents }: Pick<EndingParts, "accounts" | "contents">) {
  return (message: MessageRow, isOver: boolean): void => {
    const { keep_bodies } = accounts.byNumber(message.account)?.settings ?? {};
    if (keep_bodies === "true") contents.keepBatch(message);
    else if (isOver) contents.wipeSingle(message);
  };
}
