/** Rules that hold for SMS over HTTP gateways, beside those for every SMS. */
import { isInterruption, isRefused, type Rule, storedReceipts, submitsOf } from "../fate-rules.ts";
import type { HandOver } from "../model.ts";
import type { Requested } from "./gateway.ts";
import type { GatewayPlan } from "./gateway-plan.ts";

export function gatewayRules({ failover }: GatewayPlan): readonly Rule[] {
  return [goesToItsNumber, ownIdsSettle, ...(failover === "safe" ? [staysWhereItMayBe] : [])];
}

const isRequest = (submit: HandOver): submit is Requested => "naming" in submit;

const goesToItsNumber: Rule = (fate) => {
  const { shown, asked } = fate;
  const wrong = submitsOf(fate)
    .filter(isRequest)
    .find(
      ({ to, text }) => to !== shown.to || !text.startsWith(`Request ${asked.index}.`.slice(0, text.length)),
    );
  return wrong && `"${wrong.text}" went to ${wrong.to}`;
};

/** What one gateway may have, no other gets, unless a process was interrupted: it does not know which gateway it was. */
const staysWhereItMayBe: Rule = (fate) => {
  if (fate.timeline.some(isInterruption)) return undefined;
  const submits = submitsOf(fate);
  const first = submits.findIndex((submit) => !isRefused(submit));
  const other = submits.slice(first).find(({ peer }) => first >= 0 && peer !== submits[first]?.peer);
  return other && `the ${submits[first]?.peer} may have it, and it went to the ${other.peer}`;
};

/**
 * A final report that names the message by our id settles it, whatever became of the answers, unless it came after the end. That
 * it was not delivered does so only where no other gateway may have it.
 */
const ownIdsSettle: Rule = ({ timeline, shown: { status }, ...fate }) => {
  const submits = submitsOf(fate);
  if (!submits.every((submit) => isRequest(submit) && submit.naming === "ours")) return undefined;
  const isAtOne = new Set(submits.flatMap((submit) => (isRefused(submit) ? [] : submit.peer))).size === 1;
  const isEnd = (says: string) => says === "delivered" || (says !== "sent" && isAtOne);
  const final = storedReceipts(submits).find(({ says }) => isEnd(says));
  const isUnconfirmed = timeline.some(({ error, sequence }) => sequence && error?.code === "unconfirmed");
  const isLate = timeline.some(({ kind }) => kind === "late_receipt");
  const isInVain = status === "sent" || (status === "failed" && isUnconfirmed && !isLate);
  return final && isInVain && `a report says that it is ${final.says}, and it is ${status}`;
};
