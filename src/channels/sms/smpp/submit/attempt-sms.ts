/** One attempt at an SMS: plans it, submits it when its sender's rate allows, and makes one outcome of the answers. */
import type { PartOutcome, SendOutcome } from "../../../../core/messages/outcome.ts";
import { isOpen } from "../../../../core/messages/part.ts";
import type { OutgoingMessage, OutgoingSms } from "../../../channel.ts";
import { isToBeSent } from "../../../is-to-be-sent.ts";
import { firstProviderId } from "../../first-provider-id.ts";
import { isAskAgain } from "../rate/sender-pace.ts";
import type { BegunMessage } from "./begun-messages.ts";
import { joinedBefore, styleOf } from "./joining.ts";
import { planRest } from "./plan-rest.ts";
import { type SenderTurn, takeSenderTurn } from "./sender-turn.ts";
import type { SubmitPlan } from "./submit-plan.ts";
import { type SubmitResult, waitsForSender } from "./submit-result.ts";
import { submitSegments } from "./submit-segments.ts";
import type { Submitter } from "./submitter.ts";

export interface SmsAttempt {
  readonly message: OutgoingSms;
  readonly plan: SubmitPlan;
  /** The segments that are to be sent. */
  readonly due: readonly number[];
  /** Whether an earlier attempt has settled a segment of the message. */
  readonly wasBegun: boolean;
  /** How other segments of the message were sent. `undefined`: none was, or it is not known. */
  readonly begunAs: BegunMessage | undefined;
  /** When the delivery window ends, on the monotonic clock. */
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
  /** False once another process may have taken the message over. */
  readonly isOurs: () => boolean;
}

/** See `Channel.send`. */
export async function attemptSms(
  submitter: Submitter,
  message: OutgoingMessage,
  limits: Pick<SmsAttempt, "signal" | "isOurs">,
): Promise<SendOutcome> {
  if (message.channel !== "sms")
    return rejectAll(message, "smpp.not_an_sms", "this connector sends SMS only");
  const begunAs = isRest(message) ? submitter.begunMessages.of(message.messageId) : undefined;
  const now = submitter.settings.config();
  const plan = planRest(message, { by: begunAs?.config ?? now, now });
  if ("error" in plan) return rejectAll(message, plan.error.code, plan.error.message);
  const wasBegun = !message.parts.every(isOpen);
  const changed = wasBegun ? whatChanged(message, plan) : undefined;
  if (changed !== undefined) return rejectAll(message, "smpp.segments_changed", changed);
  const due = [...Array(plan.submits).keys()].filter((segment) => isToBeSent(message, segment));
  const endsAtMs = submitter.clock.monotonicMs() + message.remainingMs;
  const asking = takeSenderTurn(submitter, { message, plan, due, wasBegun, begunAs, endsAtMs, ...limits });
  const turn = asking instanceof Promise ? await asking : asking;
  if (isAskAgain(turn)) return toOutcome(deferAll({ plan, due }, turn.retryAfterMs));
  const outcome = toOutcome(await submitTurn(submitter, turn));
  const id = firstProviderId(message.messageId, outcome.parts);
  return { ...outcome, detail: { encoding: plan.encoding, segments: plan.segments, ...id } };
}

/** Whether its segments are to be joined with those of an earlier attempt. If all go out, they begin anew. */
function isRest(message: OutgoingSms): boolean {
  return message.parts.some((_, segment) => !isToBeSent(message, segment));
}

/** Why no handset could join the segments of this plan with those that were sent before; `undefined`: it can. */
function whatChanged(message: OutgoingSms, { submits, joinedBy }: SubmitPlan): string | undefined {
  const { parts } = message;
  if (parts.length !== submits)
    return `the text now makes ${submits} segments, and some of ${parts.length} were sent`;
  const style = styleOf(joinedBy ?? "");
  const other = joinedBefore(message)
    .map(styleOf)
    .find((before) => before !== style);
  return other && `segments now go out as ${style}, and some were sent as ${other}`;
}

/** The result of each segment; `undefined` if this attempt does not cover the segment. */
type Results = (SubmitResult | undefined)[];

function toOutcome(results: Results): SendOutcome {
  const tried = results.filter((result) => result !== undefined);
  return {
    parts: results.map((result) => result?.outcome),
    countsAsAttempt: tried.length > 0 && countsAsAttempt(tried),
  };
}

/** If some segments were sent and the others only put off, the attempt does not count. */
function countsAsAttempt(results: readonly SubmitResult[]): boolean {
  const doAllCount = results.every((result) => result.countsAsAttempt);
  return doAllCount || results.some((result) => result.countsAsAttempt && result.outcome.kind !== "sent");
}

/** Submits the segments of this turn. Those of later turns are deferred by a segment's time or, if one was refused, refused too. */
async function submitTurn(submitter: Submitter, turn: SenderTurn): Promise<Results> {
  const results = await submitSegments(submitter, turn);
  const refused = results.find((result) => result?.outcome.kind === "rejected");
  const waits = waitsForSender(Math.ceil(turn.heldTurn?.intervalMs() ?? 0));
  for (const segment of turn.later) results[segment] = refused ?? waits;
  return results;
}

function deferAll({ plan, due }: Pick<SmsAttempt, "plan" | "due">, retryAfterMs: number): Results {
  const results: Results = Array(plan.submits).fill(undefined);
  for (const segment of due) results[segment] = waitsForSender(retryAfterMs);
  return results;
}

function rejectAll(message: OutgoingMessage, code: string, words: string): SendOutcome {
  const rejected: PartOutcome = { kind: "rejected", error: { code, message: words } };
  const count = Math.max(1, message.parts.length);
  const parts = Array.from({ length: count }, (_, i) => (isToBeSent(message, i) ? rejected : undefined));
  return { parts, countsAsAttempt: parts.includes(rejected) };
}
