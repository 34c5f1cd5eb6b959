import type { MessageError } from "../../../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../../../core/messages/outcome.ts";
import { NOBODY_ELSE } from "../../../core/queue/claimant.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import type { Channel, ChannelDeps, OutgoingEmail } from "../../channel.ts";
import { composeWhereFit } from "../mail/compose-large.ts";
import { tagMail } from "../providers/tag-mail.ts";
import { CALLED_OFF, handOver, type Mail, NO_CONNECTION } from "./hand-over.ts";
import { joinSignals } from "./joined-signal.ts";
import { largeAtATime } from "./large-at-a-time.ts";
import { envelopesOf, type Recipients, recipientsOf } from "./recipients.ts";
import { toSmtpSettings } from "./smtp-config.ts";
import { createSmtpPool, type SmtpPool } from "./smtp-pool.ts";
import { toOneLine } from "./smtp-replies.ts";

/** Sends email through an SMTP relay (RFC 5321), whose 250 means `sent`, never `delivered`. */
export function openSmtpChannel(connector: Connector, deps: ChannelDeps): Channel {
  const settings = toSmtpSettings(connector);
  const pool = createSmtpPool(settings, deps);

  return {
    connectorId: connector.id,
    sendTimeoutMs: settings.sendTimeoutMs,
    largeAtATime: largeAtATime(settings.maxConnections),
    start: pool.start,
    freeSlots: pool.freeSlots,
    status: pool.status,
    stop: pool.stop,
    async send(given, signal, isOurs = NOBODY_ELSE.isOurs) {
      if (given.channel !== "email") return { parts: given.parts.map(() => WRONG), countsAsAttempt: true };
      const { dkim, ...unsigned } = tagMail(given, settings.provider);
      const message = settings.isSigning && dkim ? { ...unsigned, dkim } : unsigned;
      const recipients = recipientsOf(message);
      const joined = joinSignals(deps.clock, settings.sendTimeoutMs, [signal, pool.stopping]);
      const sending = pool.withSlot(() =>
        sendMail(pool, { message, recipients, signal: joined.signal, isOurs, deps }),
      );
      const outcome = await (sending ?? deferAll(recipients, NO_CONNECTION, WAITING));
      joined.release();
      return outcome;
    },
  };
}

const WRONG: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.wrong_channel", message: "not an email" },
};

const WAITING = { countsAsAttempt: false };

interface Sending {
  readonly message: OutgoingEmail;
  readonly recipients: Recipients;
  readonly signal: AbortSignal;
  readonly isOurs: () => boolean;
  readonly deps: ChannelDeps;
}

async function sendMail(pool: SmtpPool, sending: Sending): Promise<SendOutcome> {
  const { recipients, message, deps } = sending;
  const isNobody = recipients.addresses.length === 0;
  if (isNobody || sending.signal.aborted) return deferAll(recipients, CALLED_OFF, WAITING);
  try {
    const mail = await composeWhereFit(message, deps.composeLarge);
    if (mail.kind === "composed") return await sendEnvelopes(pool, sending, mail);
    return allAlike(recipients, { kind: "rejected", error: mail.error });
  } catch (fault) {
    // A bug here or in the composer: the message is tried again, as after a lost connection.
    const name = fault instanceof Error ? fault.name : "unknown";
    const reason = toOneLine(String(fault));
    deps.log.warn({ message_id: message.messageId, reason }, "an email could not be sent");
    return deferAll(recipients, { code: "smtp.fault", message: name });
  }
}

async function sendEnvelopes(pool: SmtpPool, sending: Sending, mail: Mail): Promise<SendOutcome> {
  const { message, recipients, signal, isOurs, deps } = sending;
  const asked = { returnPaths: deps.returnPaths, wantsSuccess: true };
  const envelopes = envelopesOf(message, recipients, asked);
  const handed = await handOver(pool, { mail, envelopes, signal, isOurs });
  if (handed.wanted) pool.markDown(handed.wanted);
  const untried: PartOutcome = { kind: "deferred", error: handed.fault ?? NO_CONNECTION };
  if (handed.outcomes.size === 0) return allAlike(recipients, untried, WAITING);
  return {
    parts: recipients.outcomes((address) => handed.outcomes.get(address) ?? untried),
    countsAsAttempt: handed.wanted === undefined,
    detail: { recipients: recipients.addresses.length, octets: mail.raw.length, ...handed.detail },
  };
}

function deferAll(
  recipients: Recipients,
  error: MessageError,
  counting = { countsAsAttempt: true },
): SendOutcome {
  return allAlike(recipients, { kind: "deferred", error }, counting);
}

function allAlike(
  recipients: Recipients,
  outcome: PartOutcome,
  { countsAsAttempt } = { countsAsAttempt: true },
): SendOutcome {
  return { parts: recipients.outcomes(() => outcome), countsAsAttempt };
}
