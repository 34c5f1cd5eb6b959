import { isSettled } from "../../../core/messages/progress.ts";
import type { Step } from "../../../core/messages/step.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import type { AccountCache } from "../records/account-cache.ts";
import type { Contents } from "./contents.ts";
import type { MessageLog } from "./message-log.ts";

export interface EndingParts {
  readonly accounts: AccountCache;
  readonly contents: Contents;
  readonly messages: MessageLog;
}

/** Saves a step that ends a message, or some of its parts, without an attempt, and wipes a body that is not needed any more. */
export function createEnding({ accounts, contents, messages }: EndingParts) {
  const keepsBodies = (message: MessageRow) =>
    accounts.byNumber(message.account)?.settings.keep_bodies === "true";
  return (message: MessageRow, step: Step): void => {
    messages.save(message, step);
    if (keepsBodies(message)) contents.keepBatch(message);
    else if (isSettled(step.progress)) contents.wipeSingle(message);
  };
}
