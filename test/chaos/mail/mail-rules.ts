/** Rules that hold for every email, whatever happened to it. A rule returns what is wrong, or a falsy value. */
import { HOUR_MS } from "../../../src/core/time/durations.ts";
import type { Entry } from "../model.ts";
import type { MailFate } from "./mail-model.ts";
import { subjectOf } from "./mail-steps.ts";
import { hostOf, type MailWorld, WINDOW_HOURS } from "./mail-world.ts";
import type { HandOver } from "./relay-talk.ts";

type Rule = (fate: MailFate, world: MailWorld) => string | undefined | false;

export function problemsOfMail(fate: MailFate, world: MailWorld): readonly string[] {
  return RULES.flatMap((rule) => rule(fate, world) || []);
}

const RULES: readonly Rule[] = [
  isAtRest,
  goesToItsRecipients,
  takenAgainForAReason,
  heldIsNotSentAgain,
  everyMailIsOnRecord,
  canceledNeverLeft,
  sentWasTaken,
  takenIsKnown,
  bouncedWasRefused,
  failedHasItsReason,
  reportsCount,
];

function isAtRest({ shown: { status } }: MailFate) {
  return ["queued", "scheduled", "sending"].includes(status) && `it is ${status} in the end`;
}

function goesToItsRecipients({ asked, mails, events }: MailFate) {
  const wrong = mails.find(
    ({ to, subject }) =>
      subject !== subjectOf(asked.index) || !to.every((address) => asked.addresses.includes(address)),
  );
  if (wrong) return `a mail "${wrong.subject}" went to ${wrong.to.join()}`;
  const told = new Set(events.map(({ data }) => data.recipient?.toLowerCase()));
  const untold = asked.addresses.filter((address) => !told.has(address));
  return untold.length > 0 && `no event tells of ${untold.join()}`;
}

const isInterruption = ({ kind }: Entry) => kind === "interrupted" || kind === "lost_settle";

const IN_DOUBT: ReadonlySet<string> = new Set(["unconfirmed", "smtp.connection_lost"]);

function isInDoubt(entry: Entry): boolean {
  return isInterruption(entry) || (entry.kind === "attempt" && IN_DOUBT.has(entry.error?.code ?? ""));
}

function mailsTo({ mails }: MailFate, address: string): readonly HandOver[] {
  return mails.filter(({ to }) => to.includes(address));
}

const REFUSALS: ReadonlySet<string> = new Set(["later", "closing", "never"]);

/** The relay told the service that it does not have it. */
function isRefused({ fate, answeredAtMs }: HandOver): boolean {
  return REFUSALS.has(fate) && answeredAtMs !== undefined;
}

/** The service knows that the relay has it. */
function isKnownAsTaken({ isTaken, answeredAtMs }: HandOver): boolean {
  return isTaken && answeredAtMs !== undefined;
}

function takenAgainForAReason(fate: MailFate) {
  const doubts = fate.timeline.filter(isInDoubt).length;
  for (const address of fate.asked.addresses) {
    const taken = mailsTo(fate, address).filter(({ isTaken }) => isTaken).length;
    if (taken - 1 > doubts)
      return `${address} was sent it ${taken} times, and the timeline has ${doubts} doubts`;
  }
  return undefined;
}

/** For accounts with `on_unconfirmed` set to `hold`. What did not come to its end is not in doubt. */
function heldIsNotSentAgain(fate: MailFate) {
  if (!fate.asked.account.holds) return undefined;
  for (const address of fate.asked.addresses) {
    const before = mailsTo(fate, address).slice(0, -1);
    const wrong = before.find((mail) => mail.isComplete && !isRefused(mail));
    if (wrong) return `${address} was sent it again after "${wrong.fate}", though it is to be held`;
  }
  return undefined;
}

function everyMailIsOnRecord(fate: MailFate, { plan, relays }: MailWorld) {
  for (const address of fate.asked.addresses) {
    const tries = fate.timeline.filter((entry) => isTry(entry, address));
    // Where a server has refused some recipients and closes, the same attempt offers it to the others again at once.
    const mails = mailsTo(fate, address).filter((mail) => !(mail.fate === "closing" && isRefused(mail)));
    if (!plan.isDirect && mails.length > tries.length)
      return `${address} was sent it ${mails.length} times, and ${tries.length} are told of`;
    // One attempt offers to another host what the first has put off, and names both.
    for (const { name } of plan.isDirect ? relays : []) {
      const here = mails.filter(({ relay }) => relay === name).length;
      const told = tries.filter((entry) => isInterruption(entry) || isAt(entry, name)).length;
      if (here > told)
        return `${address} was sent it ${here} times at the ${name} host, and ${told} are told of`;
    }
  }
  return undefined;
}

function isTry(entry: Entry, address: string): boolean {
  const isAttempt = isInterruption(entry) || entry.kind === "attempt";
  return isAttempt && (entry.recipient === undefined || entry.recipient.toLowerCase() === address);
}

function isAt({ detail }: Entry, relay: string): boolean {
  return (detail?.hosts as readonly string[] | undefined)?.includes(hostOf(relay)) === true;
}

function isCanceled({ events }: MailFate): boolean {
  return events.some(({ data }) => data.error?.code === "canceled");
}

function canceledNeverLeft(fate: MailFate, { model }: MailWorld) {
  const canceled = model.canceled.find(({ messageId }) => messageId === fate.shown.message_id);
  if (canceled && !isCanceled(fate)) return "it was answered as canceled, and is not";
  if (!isCanceled(fate)) return undefined;
  if (!fate.mails.every(isRefused)) return "it is canceled, and has left or may have";
  return (
    canceled && fate.mails.some(({ atMs }) => atMs > canceled.atMs) && "it was sent after it was canceled"
  );
}

/** The last that was told of a recipient. */
function lastOf({ events }: MailFate, address: string) {
  return events.findLast(({ data }) => data.recipient?.toLowerCase() === address)?.data;
}

function sentWasTaken(fate: MailFate, { plan }: MailWorld) {
  for (const address of fate.asked.addresses) {
    const status = lastOf(fate, address)?.status;
    const isSent = status === "sent" || status === "delivered";
    if (isSent && !mailsTo(fate, address).some(({ isTaken }) => isTaken))
      return `it is ${status} to ${address}, and no relay has it`;
    const isReported = mailsTo(fate, address).some(({ report }) => report?.action === "delivered");
    if (status === "delivered" && !plan.isDirect && !isReported)
      return `it is delivered to ${address}, and no report said so`;
  }
  return undefined;
}

/** What a relay took and said so is `sent`, if the answer came in time and was recorded. */
function takenIsKnown(fate: MailFate) {
  if (fate.timeline.some(isInDoubt)) return undefined;
  for (const address of fate.asked.addresses) {
    const status = lastOf(fate, address)?.status;
    if (mailsTo(fate, address).some(isKnownAsTaken) && status === "failed")
      return `a relay said that it has it for ${address}, and it is failed`;
  }
  return undefined;
}

function bouncedWasRefused(fate: MailFate) {
  for (const address of fate.asked.addresses) {
    const last = lastOf(fate, address);
    if (last?.status !== "bounced" || isOver(fate, last.occurred_at)) continue;
    const isNever = fate.offers.some((offer) => offer.address === address && offer.fate === "never");
    const isReported = mailsTo(fate, address).some(({ report }) => report?.action === "failed");
    if (!isNever && !isReported) return `it bounced from ${address}, and nobody said so`;
  }
  return undefined;
}

function failedHasItsReason(fate: MailFate) {
  for (const address of fate.asked.addresses) {
    const last = lastOf(fate, address);
    if (last?.status !== "failed") continue;
    const code = last.error?.code;
    if (code === undefined) return `it failed for ${address} without a reason`;
    if (code === "canceled") continue;
    const wasBounced = fate.offers.some((offer) => offer.address === address && offer.fate === "never");
    if (code === "suppressed" && wasBounced) continue;
    if (code === "unconfirmed" && fate.timeline.some(isInDoubt)) continue;
    if (isOver(fate, last.occurred_at)) continue;
    const isRefusedForGood = mailsTo(fate, address).some((mail) => mail.fate === "never");
    if (!isRefusedForGood) return `it failed for ${address} with ${code}, and nobody said so`;
  }
  return undefined;
}

/** Then the reason is the last one for which it was put off. */
function isOver({ shown, asked: { body } }: MailFate, at: string): boolean {
  const begins = Date.parse(String(body.schedule_at ?? shown.created_at));
  return Date.parse(at) - begins >= WINDOW_HOURS * HOUR_MS;
}

/** A report about a mail whose answer was recorded is never without effect. */
function reportsCount(fate: MailFate) {
  for (const address of fate.asked.addresses) {
    const status = lastOf(fate, address)?.status;
    const reports = mailsTo(fate, address).flatMap(({ report }) => report ?? []);
    if (reports.some(({ storedAtMs }) => storedAtMs !== undefined) && status === "sent")
      return `a report for ${address} was stored, and it is only sent`;
    if (reports.some(({ action }) => action === "failed") && status === "delivered" && reports.length === 1)
      return `a report says that ${address} was not reached, and it is delivered`;
  }
  return undefined;
}
