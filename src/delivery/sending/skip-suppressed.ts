import type { PartOutcome, SendOutcome } from "../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { SuppressionStore } from "../../store/store.ts";
import type { Outgoing } from "./to-outgoing.ts";

/** Recipients that are not written to, by index. */
export type Skipped = ReadonlyMap<number, PartOutcome>;

/**
 * Leaves out of an email whom the account's suppression list holds now: a message may have waited for days. Asked just
 * before the wire, so that what others have learned meanwhile counts.
 */
export async function skipSuppressed(
  outgoing: Outgoing,
  job: ClaimedJob,
  { find, now }: { readonly find: SuppressionStore["find"]; readonly now: number },
): Promise<Outgoing> {
  if (outgoing.kind !== "ready" || outgoing.message.channel !== "email") return outgoing;
  const { parts, only = [...parts.keys()] } = outgoing.message;
  const addressOf = (index: number) => parts[index]?.address?.toLowerCase() ?? "";
  const suppressed = await find(job.accountId, only.map(addressOf), now);
  if (suppressed.length === 0) return outgoing;
  const reasons = new Map(suppressed.map(({ email, reason }) => [email, reason]));
  const skipped = new Map(
    only.flatMap((index) => {
      const reason = reasons.get(addressOf(index));
      return reason === undefined ? [] : [[index, rejected(reason)] as const];
    }),
  );
  const rest = only.filter((index) => !skipped.has(index));
  return { ...outgoing, message: { ...outgoing.message, only: rest }, skipped };
}

function rejected(reason: string): PartOutcome {
  const message = `the address is on the account's suppression list: ${reason}`;
  return { kind: "rejected", error: { code: "suppressed", message } };
}

/** What an attempt came to, together with those it left out. */
export function withSkipped(outcome: SendOutcome, skipped: Skipped | undefined): SendOutcome {
  if (!skipped) return outcome;
  const length = Math.max(outcome.parts.length, ...[...skipped.keys()].map((index) => index + 1));
  const parts = Array.from({ length }, (_, index) => skipped.get(index) ?? outcome.parts[index]);
  return { ...outcome, parts };
}
