import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { splitLane } from "../../webhooks/webhook-rows.ts";
import type { AccountBook } from "../records/account-book.ts";

/** The lane by the account's id. Accounts with messages stay; of one that is gone, its id is "". */
export function fromLane(accounts: Pick<AccountBook, "byNumber">, lane: string): Lane {
  const [number, host] = splitLane(lane);
  return { accountId: accounts.byNumber(number)?.account.id ?? "", host };
}
