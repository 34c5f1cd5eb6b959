import { isSettled } from "../../../core/messages/progress.ts";
import type { Step } from "../../../core/messages/step.ts";
import type { Settings } from "../records/account-settings.ts";
import type { LockedMessage, MessageLog } from "./message-log.ts";

/** Saves a step that ends a message, or some of its parts, without an attempt, and wipes a body that is not needed any more. */
export function endMessage(
  log: MessageLog,
  message: LockedMessage,
  { step, settings }: { readonly step: Step; readonly settings: Settings },
): void {
  log.save(message, step);
  if (settings.keep_bodies === "true") log.keepBatch(message);
  else if (isSettled(step.progress)) log.wipeSingle(message);
}
