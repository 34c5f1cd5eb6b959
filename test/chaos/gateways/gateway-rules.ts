/** Rules that hold for SMS over HTTP gateways, beside those for every SMS. */
import {
  cameTooLate,
  isInterruption,
  isRefused,
  type Rule,
  storedReceipts,
  submitsOf,
} from "../fate-rules.ts";
import type { Fleet } from "../fleet.ts";
import type { HandOver } from "../model.ts";
import type { Requested } from "./gateway.ts";
import type { GatewayPlan } from "./gateway-plan.ts";

export function gatewayRules({ failover }: GatewayPlan): readonly Rule[] {
  return [
    goesToItsNumber,
    ownIdsSettle,
    answersAreBelieved,
    ...(failover === "safe" ? [staysWhereItMayBe] : []),
  ];
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

/** What a gateway has answered plainly, and the service could read in time, is not in doubt: nothing is sent again for it. */
const answersAreBelieved: Rule = ({ timeline, parts }, { fleet }) => {
  if (timeline.some((entry) => isInterruption(entry) || cameTooLate(entry))) return undefined;
  const isPlain = (submit: HandOver) =>
    isRequest(submit) &&
    (submit.says === "taken" || submit.says === "never") &&
    isHeard(submit, fleet.faults);
  for (const [part, submits] of parts) {
    const again = submits.findIndex((_, index) => index > 0 && isPlain(submits[index - 1] as HandOver));
    if (again > 0) return `part ${part} left again after "${submits[again - 1]?.fate}"`;
  }
  const isUnconfirmed = timeline.some(({ error, sequence }) => sequence && error?.code === "unconfirmed");
  const isAnswered =
    parts.size > 0 && [...parts.values()].every((submits) => isPlain(submits.at(-1) as HandOver));
  return isUnconfirmed && isAnswered && "it is in doubt, and was answered";
};

/** How long an answer may take, and its reader, with the time limit a long way off. */
const PROMPT_MS = 600;
const READ_MS = 150;

/** Nothing has kept the service from reading the answer in time. */
function isHeard({ atMs, answeredAtMs }: HandOver, faults: Fleet["faults"]): boolean {
  if (answeredAtMs === undefined || answeredAtMs - atMs > PROMPT_MS) return false;
  const isBetween = (ms: number) => ms >= atMs - READ_MS && ms <= answeredAtMs + READ_MS;
  return !faults.some((fault) => /SIGSTOP|SIGTERM|gateway/.test(fault.what) && isBetween(fault.atMs));
}

/**
 * A final report that names the message by our id settles it, whatever became of the answers, and whoever else has it, unless it
 * came after the end. That it was not delivered does so only where no other provider may have it.
 */
const ownIdsSettle: Rule = ({ timeline, shown: { status }, ...fate }) => {
  const submits = submitsOf(fate);
  const isAtOne = new Set(submits.flatMap((submit) => (isRefused(submit) ? [] : submit.peer))).size === 1;
  const isEnd = (says: string) => says === "delivered" || (says !== "sent" && isAtOne);
  const named = submits.filter((submit) => isRequest(submit) && submit.naming === "ours");
  const final = storedReceipts(named).find(({ says }) => isEnd(says));
  const isUnconfirmed = timeline.some(({ error, sequence }) => sequence && error?.code === "unconfirmed");
  const isLate = timeline.some(({ kind }) => kind === "late_receipt");
  const isInVain = status === "sent" || (status === "failed" && isUnconfirmed && !isLate);
  return final && isInVain && `a report says that it is ${final.says}, and it is ${status}`;
};
