/** What the suppression lists of both engines learn from messages about their recipients. */
import { bounceKind } from "../../core/email/bounce-kind.ts";
import type { Part } from "../../core/messages/message.ts";
import type { Suppression } from "../../core/records/accounts.ts";
import type { StoredSettings } from "../../core/records/settings.ts";
import { addressKey } from "../../core/suppressions/address-key.ts";
import { type SuppressionReason, suppressedUntil } from "../../core/suppressions/suppression.ts";
import { hashedUuid } from "./hashed-uuid.ts";

/** A reason to suppress a recipient. */
export interface LearntSuppression {
  readonly email: string;
  readonly reason: SuppressionReason;
  /** When it was learnt, Unix milliseconds. */
  readonly at: number;
}

export interface PartsStep {
  readonly before: readonly Part[];
  readonly after: readonly Part[];
  readonly at: number;
}

/** The recipients that bounced in the step from `before` to `after`. */
export function learntFromParts({ before, after, at }: PartsStep): readonly LearntSuppression[] {
  return after.flatMap((part, index) => {
    if (part.status !== "bounced" || before[index]?.status === "bounced") return [];
    const reason = reasonOf(part);
    return part.address !== undefined && reason ? [{ email: part.address, reason, at }] : [];
  });
}

/** The recipients to whom the step from `before` to `after` has delivered: their own mail host took the message. */
export function deliveredTo({ before, after }: PartsStep): readonly string[] {
  return after.flatMap(({ status, address }, index) =>
    status === "delivered" && address !== undefined && before[index]?.status !== status ? [address] : [],
  );
}

/** A recipient bounces while sending, at once or after deferrals. In both cases the answer to RCPT TO says why. */
function reasonOf({ error }: Part): SuppressionReason | undefined {
  if (!error || ON_THE_WAY.has(error.code)) return undefined;
  const kind = bounceKind({ code: error.code, text: error.message, stage: "recipient" });
  return kind === "message" ? undefined : `${kind}_bounce`;
}

/**
 * Faults on the way to a mail host: no connection, no answer from DNS, no address, no TLS where it is promised (RFC 3463 §3.5, §3.8).
 * They say nothing of a mailbox, and may be our own: a network that blocks port 25 would have all recipients suppressed.
 */
const ON_THE_WAY: ReadonlySet<string> = new Set(["4.4.1", "4.4.3", "4.4.4", "4.7.5"]);

export interface LearntFrom {
  readonly accountId: string;
  readonly messageId: string;
  readonly settings: StoredSettings;
}

/** The list's entry for a reason, with the message as its source. */
export function toSuppression(
  { email: written, reason, at }: LearntSuppression,
  { accountId, messageId, settings }: LearntFrom,
): Suppression {
  const email = addressKey(written);
  const expiresAt = suppressedUntil(reason, at, settings);
  return {
    id: hashedUuid(at, `${accountId} ${email} ${messageId}`),
    accountId,
    email,
    reason,
    source: messageId,
    ...(expiresAt !== undefined && { expiresAt }),
    createdAt: at,
  };
}
