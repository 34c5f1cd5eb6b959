import type { AcceptRequest } from "../../core/messages/accept-request.ts";

/**
 * The flow of a request's jobs, the same in both engines, since a move copies jobs unchanged. An account has two, so that its singles and
 * its batches take turns.
 *
 * @param account the account's number
 */
export function flowNumber(account: number, flow: AcceptRequest["flow"]): number {
  return account * 2 + (flow === "batch" ? 1 : 0);
}
