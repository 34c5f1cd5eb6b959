import type { PartOutcome, SendOutcome } from "../../../core/messages/outcome.ts";
import { NOBODY_ELSE } from "../../../core/queue/claimant.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import type { Channel, ChannelDeps } from "../../channel.ts";
import { tagMail } from "../providers/tag-mail.ts";
import { handOver, type Mail, NO_CONNECTION } from "./hand-over.ts";
import { largeAtATime } from "./large-at-a-time.ts";
import { envelopesOf, recipientsOf } from "./recipients.ts";
import { createRelayRest, type RelayRest } from "./relay-rest.ts";
import { deferAll, type Sending, sendComposed } from "./send-composed.ts";
import { toSmtpSettings } from "./smtp-config.ts";
import { createSmtpPool, type SmtpPool } from "./smtp-pool.ts";
import { withinLimit } from "./within-limit.ts";

/** Sends email through an SMTP relay (RFC 5321), whose 250 means `sent`, never `delivered`. */
export function openSmtpChannel(connector: Connector, deps: ChannelDeps): Channel {
  const settings = toSmtpSettings(connector);
  const pool = createSmtpPool(settings, deps);
  const rest = createRelayRest(deps.clock, deps.onSlots);

  return {
    connectorId: connector.id,
    sendTimeoutMs: settings.sendTimeoutMs,
    largeAtATime: largeAtATime(settings.maxConnections),
    start: pool.start,
    freeSlots: () => (rest.isOn() ? 0 : pool.freeSlots()),
    status() {
      const status = pool.status();
      // A reduced rate lowers the connector's health, so that others take its mails meanwhile.
      return status.state === "up" && rest.isOn() ? { ...status, rate: RESTING } : status;
    },
    stop() {
      rest.stop();
      return pool.stop();
    },
    async send(given, signal, isOurs = NOBODY_ELSE.isOurs) {
      if (given.channel !== "email") return { parts: given.parts.map(() => WRONG), countsAsAttempt: true };
      const { dkim, ...unsigned } = tagMail(given, settings.provider);
      const message = settings.isSigning && dkim ? { ...unsigned, dkim } : unsigned;
      const recipients = recipientsOf(message);
      const sent = pool.withSlot(() =>
        withinLimit(deps.clock, { limitMs: settings.sendTimeoutMs, signal }, (limited) => {
          const sending = { message, recipients, signal: limited, isOurs, deps };
          return sendComposed(sending, "smtp.fault", (mail) => sendEnvelopes({ pool, rest }, sending, mail));
        }),
      );
      return sent ?? deferAll(recipients, NO_CONNECTION);
    },
  };
}

const WRONG: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.wrong_channel", message: "not an email" },
};

const RESTING = { perSecond: 0, isReduced: true };

interface Relay {
  readonly pool: SmtpPool;
  readonly rest: RelayRest;
}

async function sendEnvelopes({ pool, rest }: Relay, sending: Sending, mail: Mail): Promise<SendOutcome> {
  const { message, recipients, signal, isOurs, deps } = sending;
  const asked = { returnPaths: deps.mail.returnPaths, wantsSuccess: true };
  const envelopes = envelopesOf(message, recipients, asked);
  const handed = await handOver(pool, { mail, envelopes, signal, isOurs });
  if (handed.wanted) pool.markDown(handed.wanted);
  const error = handed.fault ?? NO_CONNECTION;
  if (handed.outcomes.size === 0) return deferAll(recipients, error);
  const untried: PartOutcome = { kind: "deferred", error };
  const outcomeOf = (address: string) => handed.outcomes.get(address) ?? untried;
  if ([...handed.outcomes.values()].some(({ kind }) => kind === "sent")) rest.forget();
  const later = handed.isThrottled ? putOff(rest.begin()) : (outcome: PartOutcome) => outcome;
  const isCostless = handed.wanted !== undefined || handed.isThrottled;
  // Whoever may have got the mail would get it again after each rest, instead of after longer and longer waits.
  const isDoubtful = [...handed.outcomes.values()].some(({ kind }) => kind === "unconfirmed");
  return {
    parts: recipients.outcomes((address) => later(outcomeOf(address))),
    countsAsAttempt: isDoubtful || !isCostless,
    detail: { recipients: recipients.addresses.length, octets: mail.raw.length, ...handed.detail },
  };
}

/** What was deferred is tried again after the relay's rest. */
function putOff(retryAfterMs: number): (outcome: PartOutcome) => PartOutcome {
  return (outcome) => (outcome.kind === "deferred" ? { ...outcome, retryAfterMs } : outcome);
}
