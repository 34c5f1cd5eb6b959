import type { Connector } from "../../../core/accounts.ts";
import type { PartOutcome, SendOutcome } from "../../../core/outcome.ts";
import type { Channel, ChannelDeps, OutgoingEmail } from "../../channel.ts";
import { type ComposedMail, composeMail } from "./compose-mail.ts";
import { openCut } from "./cut.ts";
import { isAscii, toEnvelopeAddress } from "./mail-address.ts";
import { type Recipients, recipientsOf } from "./recipients.ts";
import { toSmtpSettings } from "./smtp-config.ts";
import { createSmtpPool, type SmtpPool } from "./smtp-pool.ts";
import {
  isServiceClosing,
  missingCredentials,
  type TransactionReport,
  toOneLine,
  toPartOutcome,
  toQueueId,
} from "./smtp-replies.ts";
import type { SmtpSession } from "./smtp-session.ts";

/** A relay, spoken to over SMTP (RFC 5321): its 250 is `sent`, never `delivered`. One message is one envelope. */
export function openSmtpChannel(connector: Connector, deps: ChannelDeps): Channel {
  const settings = toSmtpSettings(connector);
  const pool = createSmtpPool(settings, deps);

  return {
    connectorId: connector.id,
    sendTimeoutMs: settings.sendTimeoutMs,
    start: pool.start,
    freeSlots: pool.freeSlots,
    status: pool.status,
    stop: pool.stop,
    async send(message, signal) {
      if (message.channel !== "email")
        return { parts: message.parts.map(() => WRONG), countsAsAttempt: true };
      const recipients = recipientsOf(message);
      const cut = openCut(deps.clock, settings.sendTimeoutMs, [signal, pool.cut]);
      const { log } = deps;
      const sending = pool.withSlot(() => sendMail(pool, { message, recipients, cut: cut.signal, log }));
      const outcome = await (sending ?? allAlike(recipients, NO_CONNECTION, { countsAsAttempt: false }));
      cut.release();
      return outcome;
    },
  };
}

const WRONG: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.wrong_channel", message: "not an email" },
};

const NO_CONNECTION: PartOutcome = {
  kind: "deferred",
  error: { code: "smtp.no_connection", message: "no free connection to the server" },
};

const CALLED_OFF: PartOutcome = {
  kind: "deferred",
  error: { code: "smtp.called_off", message: "called off before anything was sent" },
};

interface Sending {
  readonly message: OutgoingEmail;
  readonly recipients: Recipients;
  readonly cut: AbortSignal;
  readonly log: ChannelDeps["log"];
}

type Mail = ComposedMail & { readonly kind: "composed" };

async function sendMail(pool: SmtpPool, sending: Sending): Promise<SendOutcome> {
  const { recipients, message } = sending;
  const isNobody = recipients.addresses.length === 0;
  if (isNobody || sending.cut.aborted) return allAlike(recipients, CALLED_OFF, { countsAsAttempt: false });
  try {
    const mail = await composeMail(message);
    if (mail.kind === "composed") return await sendEnvelope(pool, sending, mail);
    return allAlike(recipients, { kind: "rejected", error: mail.error });
  } catch (fault) {
    // A bug, ours or the composer's: tried again like a fault on the way, until the attempts are spent.
    const name = fault instanceof Error ? fault.name : "unknown";
    const reason = toOneLine(String(fault));
    sending.log.warn({ messageId: message.messageId, reason }, "an email could not be handed over");
    return allAlike(recipients, { kind: "deferred", error: { code: "smtp.fault", message: name } });
  }
}

async function sendEnvelope(pool: SmtpPool, sending: Sending, mail: Mail): Promise<SendOutcome> {
  const first = await tryOnce(pool, sending, { mail, isFresh: false });
  // The connection had died in the pool, and the server saw nothing of this message.
  const last = first === "stale" ? await tryOnce(pool, sending, { mail, isFresh: true }) : first;
  return last === "stale" ? allAlike(sending.recipients, NO_CONNECTION) : last;
}

async function tryOnce(
  pool: SmtpPool,
  { message, recipients, cut }: Sending,
  { mail, isFresh }: { readonly mail: Mail; readonly isFresh: boolean },
): Promise<SendOutcome | "stale"> {
  const lent = await pool.connect({ isFresh, cut });
  if ("fault" in lent) {
    return allAlike(recipients, { kind: "deferred", error: lent.fault }, { countsAsAttempt: false });
  }
  const { session, isReused } = lent;
  if (cut.aborted) {
    pool.giveBack(session);
    return allAlike(recipients, CALLED_OFF, { countsAsAttempt: false });
  }
  const from = toEnvelopeAddress(message.content.from.email) ?? "";
  const to = takenBy(session, { from, mail, addresses: recipients.addresses });
  if (to.length === 0) {
    pool.giveBack(session);
    return allAlike(recipients, NO_SMTPUTF8);
  }
  const report = await session.transact({ from, to, raw: mail.raw }, cut);
  pool.giveBack(session);
  if (isReused && isUntouched(report) && !cut.aborted) return "stale";
  return toSendOutcome(pool, report, { recipients, session, mail });
}

/** The addresses that this server's extensions allow. A header that needs SMTPUTF8 goes to none without it. */
function takenBy(
  { takesSmtpUtf8 }: SmtpSession,
  { from, mail, addresses }: { from: string; mail: Mail; addresses: readonly string[] },
): readonly string[] {
  if (takesSmtpUtf8) return addresses;
  return mail.needsSmtpUtf8 || !isAscii(from) ? [] : addresses.filter(isAscii);
}

const NO_SMTPUTF8: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.smtputf8", message: "the server does not take international addresses (SMTPUTF8)" },
};

function isUntouched({ end, recipients }: TransactionReport): boolean {
  if (end.kind === "sender_refused") return isServiceClosing(end.reply);
  return end.kind === "lost" && end.wasUnanswered && !end.wasContentSent && recipients.size === 0;
}

function toSendOutcome(
  pool: SmtpPool,
  report: TransactionReport,
  { recipients, session, mail }: { recipients: Recipients; session: SmtpSession; mail: Mail },
): SendOutcome {
  const wanted = missingCredentials(report);
  if (wanted) pool.markDown(wanted);
  const queueId = report.end.kind === "taken" ? toQueueId(report.end.reply) : undefined;
  // The id names the whole envelope: it stands for a recipient only where there is one.
  const ids = queueId !== undefined && recipients.addresses.length === 1 ? [queueId] : [];
  const isTaken = (address: string) => session.takesSmtpUtf8 || isAscii(address);
  return {
    parts: recipients.outcomes((address) =>
      isTaken(address) ? toPartOutcome(report, address, ids) : NO_SMTPUTF8,
    ),
    countsAsAttempt: wanted === undefined,
    detail: {
      recipients: recipients.addresses.length,
      octets: mail.raw.length,
      tls: session.isSecure,
      ...(queueId !== undefined && { queueId }),
    },
  };
}

function allAlike(
  recipients: Recipients,
  outcome: PartOutcome,
  { countsAsAttempt } = { countsAsAttempt: true },
): SendOutcome {
  return { parts: recipients.outcomes(() => outcome), countsAsAttempt };
}
