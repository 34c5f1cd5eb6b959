import type { MessageError } from "../../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { SuppressionStore } from "../../store/store.ts";
import { neverSent } from "./never-sent.ts";
import type { Prepared } from "./to-outgoing.ts";

/** The outcomes of suppressed recipients, by index of the part. */
export type Skipped = ReadonlyMap<number, PartOutcome>;

/**
 * Leaves out of an email the recipients that are on the account's suppression list. The list is read just before the message is
 * sent: it may have waited for days, and bounces of other messages may have added to the list.
 */
export async function skipSuppressed(
  outgoing: Prepared,
  job: ClaimedJob,
  { find, now }: { readonly find: SuppressionStore["find"]; readonly now: number },
): Promise<Prepared> {
  if (outgoing.kind !== "ready" || outgoing.message.channel !== "email") return outgoing;
  const { parts, only = [...parts.keys()] } = outgoing.message;
  const addressOf = (index: number) => parts[index]?.address?.toLowerCase() ?? "";
  const suppressed = await find(job.accountId, only.map(addressOf), now);
  if (suppressed.length === 0) return outgoing;
  const reasons = new Map(suppressed.map(({ email, reason }) => [email, reason]));
  const skipped = new Map(
    only.flatMap((index) => {
      const reason = reasons.get(addressOf(index));
      return reason === undefined ? [] : [[index, neverSent(job, index, suppressedFor(reason))] as const];
    }),
  );
  const rest = only.filter((index) => !skipped.has(index));
  return { ...outgoing, message: { ...outgoing.message, only: rest }, skipped };
}

function suppressedFor(reason: string): MessageError {
  return { code: "suppressed", message: `the address is on the account's suppression list: ${reason}` };
}

/** The outcome of an attempt, with the outcomes of the recipients that it left out. */
export function withSkipped(outcome: SendOutcome, skipped: Skipped | undefined): SendOutcome {
  if (!skipped) return outcome;
  const length = Math.max(outcome.parts.length, ...[...skipped.keys()].map((index) => index + 1));
  const parts = Array.from({ length }, (_, index) => skipped.get(index) ?? outcome.parts[index]);
  return { ...outcome, parts };
}
