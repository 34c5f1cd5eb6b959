/** Rules that hold for every message, whatever happened to it. A rule returns what is wrong, or a falsy value. */
import type { Entry, Fate, HandOver, PaidReceipt } from "./model.ts";
import { plainOf } from "./steps.ts";
import type { SmsWorld } from "./world.ts";

export type Rule = (fate: Fate, world: SmsWorld) => string | undefined | false;

/** `more`: rules that hold for this run. */
export function problemsOfFate(fate: Fate, world: SmsWorld, more: readonly Rule[]): readonly string[] {
  return [...RULES, ...more].flatMap((rule) => rule(fate, world) || []);
}

const RULES: readonly Rule[] = [
  isAtRest,
  leftAgainForAReason,
  heldIsNotSentAgain,
  everySubmitIsOnRecord,
  canceledNeverLeft,
  nothingLeavesAfterTheWindow,
  saysWhatWasAsked,
  deliveredWasDelivered,
  undeliveredWasTold,
  sentWasTaken,
  receiptsCount,
  expiredWasNeverTaken,
  failedHasItsReason,
];

function isAtRest({ shown: { status } }: Fate) {
  return ["queued", "scheduled", "sending"].includes(status) && `it is ${status} in the end`;
}

/** In the order in which they came. */
export function submitsOf({ parts }: Pick<Fate, "parts">): readonly HandOver[] {
  const all = new Set([...parts.values()].flat());
  return [...all].toSorted((one, other) => one.atMs - other.atMs);
}

/** True if the provider answered with an error: it does not have the part. */
export function isRefused({ says, answeredAtMs }: HandOver): boolean {
  return (says === "not now" || says === "never") && answeredAtMs !== undefined;
}

function codeOf({ timeline }: Fate): string | undefined {
  return timeline.findLast(({ sequence }) => sequence !== undefined)?.error?.code;
}

/** Over HTTP the answer is lost. Where a process was slow it may have missed the time limit, however prompt it looks at the gateway. */
export const cameTooLate = ({ error }: Entry) => error?.message === "no answer in time";

export const isInterruption = ({ kind }: Entry) => kind === "interrupted" || kind === "lost_settle";

/** An attempt of which some parts were deferred or not answered. */
const isOpenAttempt = ({ kind, error }: Entry) => kind === "attempt" && error !== undefined;

function leftAgainForAReason({ parts, timeline }: Fate) {
  const reasons = timeline.filter((entry) => isInterruption(entry) || isOpenAttempt(entry)).length;
  for (const [part, submits] of parts) {
    if (submits.length - 1 > reasons)
      return `part ${part} was submitted ${submits.length} times, and the timeline has ${reasons} reasons`;
    const taken = submits.filter((submit) => submit.isTaken).length;
    const doubts = timeline.filter((entry) => isInterruption(entry) || isUnconfirmed(entry)).length;
    if (taken - 1 > doubts)
      return `part ${part} was taken ${taken} times, and the timeline has ${doubts} doubts`;
  }
  return undefined;
}

const UNCONFIRMED: ReadonlySet<string> = new Set([
  "unconfirmed",
  ...["smpp.no_answer", "smpp.session_lost", "smpp.cut_off"],
  ...["http.no_answer", "http.unreadable_answer", "http.502", "http.504"],
]);

function isUnconfirmed({ kind, error }: Entry): boolean {
  return kind === "attempt" && error !== undefined && UNCONFIRMED.has(error.code);
}

/** While the account has `on_unconfirmed` set to `hold`. */
function heldIsNotSentAgain({ asked, parts }: Fate) {
  for (const [part, submits] of parts) {
    const [first, again] = submits.slice(submits.findIndex((submit) => !isRefused(submit)));
    if (first && again && !isRefused(first) && asked.account.holding.wasAlways(first.atMs, again.atMs))
      return `part ${part} was sent again, though it is to be held`;
  }
  return undefined;
}

function everySubmitIsOnRecord({ parts, timeline }: Fate) {
  const tries = timeline.filter((entry) => isInterruption(entry) || entry.kind === "attempt").length;
  for (const [part, submits] of parts)
    if (submits.length > tries)
      return `part ${part} was submitted ${submits.length} times, and ${tries} are told of`;
  return undefined;
}

function canceledNeverLeft(fate: Fate, { model }: SmsWorld) {
  const canceled = model.canceled.find(({ messageId }) => messageId === fate.shown.message_id);
  const isCanceled = codeOf(fate) === "canceled";
  if (canceled && !isCanceled) return "it was answered as canceled, and is not";
  if (!isCanceled) return undefined;
  if (!submitsOf(fate).every(isRefused)) return "it is canceled, and has left or may have";
  return (
    canceled &&
    submitsOf(fate).some(({ atMs }) => atMs > canceled.atMs) &&
    "it was submitted after it was canceled"
  );
}

/** How long a process may take from its last look at the clock until it submits. */
const SLACK_MS = 1_500;
/** How long a SIGSTOP or a leap of the clock may delay a submit. */
const HELD_UP_MS = 2_000;

function nothingLeavesAfterTheWindow(fate: Fate, { fleet }: SmsWorld) {
  const { asked, shown } = fate;
  if (asked.windowMs === undefined || asked.body.schedule_at !== undefined) return undefined;
  const ends = Date.parse(shown.created_at) + asked.windowMs;
  const late = submitsOf(fate).find(({ at, atMs }) => {
    const isDisturbed = fleet.faults.some(
      (fault) => /leap|SIGSTOP/.test(fault.what) && fault.atMs > atMs - HELD_UP_MS && fault.atMs <= atMs,
    );
    return at > ends + SLACK_MS && !isDisturbed;
  });
  return late && `it was submitted ${late.at - ends} ms after its window`;
}

export function storedReceipts(submits: readonly HandOver[]): readonly PaidReceipt[] {
  return submits.flatMap(({ receipts }) => receipts.filter(({ storedAtMs }) => storedAtMs !== undefined));
}

function deliveredWasDelivered(fate: Fate) {
  if (fate.shown.status !== "delivered") return undefined;
  const isSo = isSoOfAText(fate, (submits) =>
    storedReceipts(submits).some(({ says }) => says === "delivered"),
  );
  return !isSo && "it is delivered, and no receipt said so of each part of its text";
}

function saysWhatWasAsked(fate: Fate) {
  const texts = textsOf(fate);
  const other = submitsOf(fate).find(({ text }) => !texts.some((each) => each.includes(text)));
  return other && `"${other.text}" was sent`;
}

/** Its text as it was written, and as an account with `sms_transliterate` has it. */
function textsOf({ asked: { text } }: Fate): readonly string[] {
  return [...new Set([text, plainOf(text)])];
}

/** Whether it is so of one of its texts: of all of it in one piece, or of each segment that it was sent in, none of which is missing. */
function isSoOfAText(fate: Fate, isSo: (taken: readonly HandOver[]) => boolean): boolean {
  return textsOf(fate).some((whole) => {
    const taken = submitsOf(fate).filter(({ text, isTaken }) => isTaken && whole.includes(text));
    if (isSo(taken.filter(({ segments }) => segments === 1))) return true;
    const segments = taken.filter((each) => each.segments > 1);
    if (segments.length === 0) return false;
    const count = Math.min(...segments.map((each) => each.segments));
    return Array.from({ length: count }, (_, part) => fate.parts.get(part) ?? []).every((submits) =>
      isSo(submits.filter((each) => segments.includes(each))),
    );
  });
}

function undeliveredWasTold(fate: Fate) {
  const isTold = storedReceipts(submitsOf(fate)).some(({ says }) => says === "undelivered");
  return fate.shown.status === "undelivered" && !isTold && "it is undelivered, and no receipt said so";
}

function sentWasTaken(fate: Fate) {
  if (fate.shown.status !== "sent") return undefined;
  const isTaken = isSoOfAText(fate, (submits) => submits.some((submit) => submit.isTaken));
  return !isTaken && "it is sent, and no provider has all of its text";
}

/** A final receipt for a part whose answer was recorded is never without effect. */
function receiptsCount({ shown, parts, timeline }: Fate) {
  if (shown.status !== "sent" || timeline.some((entry) => isInterruption(entry) || cameTooLate(entry)))
    return undefined;
  const isOver = [...parts.values()].every((submits) =>
    submits.some(
      (submit) =>
        submit.says === "taken" &&
        submit.answeredAtMs !== undefined &&
        storedReceipts([submit]).some(({ says }) => says !== "sent"),
    ),
  );
  return isOver && "all its receipts were stored, and it is only sent";
}

function expiredWasNeverTaken(fate: Fate) {
  if (fate.shown.status !== "expired") return undefined;
  if (storedReceipts(submitsOf(fate)).some(({ says }) => says === "expired")) return undefined;
  const submits = submitsOf(fate);
  const isLeft = [...fate.parts.values()].some((part) => part.every(isRefused)) || submits.length === 0;
  // Or one of its parts was never sent at all.
  const segments = Math.max(0, ...fate.timeline.map(({ detail }) => Number(detail?.segments ?? 0)));
  if (isLeft || fate.parts.size < segments) return undefined;
  return "it is expired, and may have been sent";
}

function failedHasItsReason(fate: Fate) {
  if (fate.shown.status !== "failed") return undefined;
  const code = codeOf(fate);
  const submits = submitsOf(fate);
  if (code === undefined) return "it is failed without a reason";
  if (code === "canceled") return undefined;
  if (code === "unconfirmed") {
    const isInDoubt = fate.timeline.some((entry) => isInterruption(entry) || isUnconfirmed(entry));
    return !isInDoubt && "it is failed as unconfirmed, and every submit was answered";
  }
  const isRefusedForGood = submits.some(({ says }) => says === "never");
  const isRejected = storedReceipts(submits).some(({ says }) => says === "failed");
  return !isRefusedForGood && !isRejected && `it is failed with ${code}, and nobody said so`;
}
