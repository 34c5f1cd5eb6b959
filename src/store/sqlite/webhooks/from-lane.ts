import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { splitLane } from "../../webhooks/webhook-rows.ts";
import type { AccountCache } from "../records/account-cache.ts";

/** A stored lane, with its account's id; "" if the account is gone, though accounts with messages are never removed. */
export function fromLane(accounts: Pick<AccountCache, "byNumber">, lane: string): Lane {
  const [number, host] = splitLane(lane);
  return { accountId: accounts.byNumber(number)?.account.id ?? "", host };
}
