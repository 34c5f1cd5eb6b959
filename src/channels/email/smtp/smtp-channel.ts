import type { PartOutcome, SendOutcome } from "../../../core/messages/outcome.ts";
import { NOBODY_ELSE } from "../../../core/queue/claimant.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import type { Channel, ChannelDeps } from "../../channel.ts";
import { tagMail } from "../providers/tag-mail.ts";
import { handOver, type Mail, NO_CONNECTION } from "./hand-over.ts";
import { joinSignals } from "./joined-signal.ts";
import { largeAtATime } from "./large-at-a-time.ts";
import { envelopesOf, recipientsOf } from "./recipients.ts";
import { deferAll, type Sending, sendComposed } from "./send-composed.ts";
import { toSmtpSettings } from "./smtp-config.ts";
import { createSmtpPool, type SmtpPool } from "./smtp-pool.ts";

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
      const sending = { message, recipients, signal: joined.signal, isOurs, deps };
      const sent = pool.withSlot(() =>
        sendComposed(sending, "smtp.fault", (mail) => sendEnvelopes(pool, sending, mail)),
      );
      const outcome = await (sent ?? deferAll(recipients, NO_CONNECTION));
      joined.release();
      return outcome;
    },
  };
}

const WRONG: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.wrong_channel", message: "not an email" },
};

async function sendEnvelopes(pool: SmtpPool, sending: Sending, mail: Mail): Promise<SendOutcome> {
  const { message, recipients, signal, isOurs, deps } = sending;
  const asked = { returnPaths: deps.returnPaths, wantsSuccess: true };
  const envelopes = envelopesOf(message, recipients, asked);
  const handed = await handOver(pool, { mail, envelopes, signal, isOurs });
  if (handed.wanted) pool.markDown(handed.wanted);
  const error = handed.fault ?? NO_CONNECTION;
  if (handed.outcomes.size === 0) return deferAll(recipients, error);
  const untried: PartOutcome = { kind: "deferred", error };
  return {
    parts: recipients.outcomes((address) => handed.outcomes.get(address) ?? untried),
    countsAsAttempt: handed.wanted === undefined,
    detail: { recipients: recipients.addresses.length, octets: mail.raw.length, ...handed.detail },
  };
}
