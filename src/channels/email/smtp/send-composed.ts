import type { MessageError } from "../../../core/messages/message.ts";
import type { SendOutcome } from "../../../core/messages/outcome.ts";
import type { ChannelDeps, OutgoingEmail } from "../../channel.ts";
import { composeWhereFit } from "../mail/compose-large.ts";
import { CALLED_OFF, type Mail } from "./hand-over.ts";
import type { Recipients } from "./recipients.ts";
import { toOneLine } from "./smtp-replies.ts";

/** One attempt at an email. */
export interface Sending {
  readonly message: OutgoingEmail;
  readonly recipients: Recipients;
  readonly signal: AbortSignal;
  readonly isOurs: () => boolean;
  readonly deps: Pick<ChannelDeps, "mail" | "log">;
}

/**
 * Composes the email, and has it sent. Never rejects.
 *
 * @param faultCode the error code where composing or sending throws, which is a bug: the message is tried again, as after a
 *   lost connection
 */
export async function sendComposed(
  { message, recipients, signal, deps }: Sending,
  faultCode: string,
  send: (mail: Mail) => Promise<SendOutcome>,
): Promise<SendOutcome> {
  if (recipients.addresses.length === 0 || signal.aborted) return deferAll(recipients, CALLED_OFF);
  try {
    const mail = await composeWhereFit(message, deps.mail.composeLarge);
    if (mail.kind === "composed") return await send(mail);
    const rejected = { kind: "rejected", error: mail.error } as const;
    return { parts: recipients.outcomes(() => rejected), countsAsAttempt: true };
  } catch (fault) {
    const reason = toOneLine(String(fault));
    deps.log.warn({ message_id: message.messageId, reason }, "an email could not be sent");
    const error = { code: faultCode, message: fault instanceof Error ? fault.name : "unknown" };
    return { ...deferAll(recipients, error), countsAsAttempt: true };
  }
}

/** The outcome if nothing was tried. */
export function deferAll(recipients: Recipients, error: MessageError): SendOutcome {
  return { parts: recipients.outcomes(() => ({ kind: "deferred", error })), countsAsAttempt: false };
}
