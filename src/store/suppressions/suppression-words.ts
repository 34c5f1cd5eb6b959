/** What messages teach of their recipients, for the suppression lists of both stores. */
import { bounceKind } from "../../core/email/bounce-kind.ts";
import type { Part } from "../../core/messages/message.ts";
import type { Suppression } from "../../core/records/accounts.ts";
import { addressKey } from "../../core/suppressions/address-key.ts";
import { type SuppressionReason, suppressedUntil } from "../../core/suppressions/suppression.ts";
import { hashedUuid } from "./hashed-uuid.ts";

/** What is known now of a recipient. */
export interface SuppressionWord {
  readonly email: string;
  readonly reason: SuppressionReason;
  /** When it was learnt, Unix milliseconds. */
  readonly at: number;
}

export interface BouncedParts {
  readonly before: readonly Part[];
  readonly after: readonly Part[];
  readonly at: number;
}

/** What the step from `before` to `after` says of the recipients that have bounced. */
export function wordsOfParts({ before, after, at }: BouncedParts): readonly SuppressionWord[] {
  return after.flatMap((part, index) => {
    if (part.status !== "bounced" || before[index]?.status === "bounced") return [];
    const reason = reasonOf(part);
    return part.address !== undefined && reason ? [{ email: part.address, reason, at }] : [];
  });
}

/** A recipient that was refused while sending, or given up on: in both cases RCPT TO said so. */
function reasonOf({ error }: Part): SuppressionReason | undefined {
  if (!error) return undefined;
  const kind = bounceKind({ code: error.code, text: error.message, stage: "recipient" });
  return kind === "message" ? undefined : `${kind}_bounce`;
}

export interface WordSource {
  readonly accountId: string;
  readonly messageId: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** The entry that a word makes, with the message as its source. */
export function toSuppression(
  { email: written, reason, at }: SuppressionWord,
  { accountId, messageId, settings }: WordSource,
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
