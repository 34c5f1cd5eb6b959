import type { MessageError } from "../../../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../../../core/messages/outcome.ts";
import { present } from "../../../core/present.ts";
import { NOBODY_ELSE } from "../../../core/queue/claimant.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { createInFlight } from "../../../core/work/in-flight.ts";
import type { Channel, ChannelDeps } from "../../channel.ts";
import { missingLocalAddress } from "../../local-address.ts";
import { asciiDomainOf } from "../mail/mail-address.ts";
import { CALLED_OFF, type Mail, NO_CONNECTION } from "../smtp/hand-over.ts";
import { createHostHealth, type HostHealth } from "../smtp/host-health.ts";
import { largeAtATime } from "../smtp/large-at-a-time.ts";
import { envelopesOf, recipientsOf } from "../smtp/recipients.ts";
import { deferAll, type Sending, sendComposed } from "../smtp/send-composed.ts";
import { withinLimit } from "../smtp/within-limit.ts";
import { type Delivered, deliverToDomain, type MxParts } from "./deliver-to-domain.ts";
import { createDestinationLimits } from "./destination-limits.ts";
import { createFullHosts } from "./full-hosts.ts";
import { createHostSessions } from "./host-sessions.ts";
import { createHostVisits } from "./host-visits.ts";
import { createMtaSts } from "./mta-sts.ts";
import { type MxSettings, toMxSettings } from "./mx-config.ts";

/** Delivers every message to the mail hosts of its recipients' domains; their 250 makes it `delivered`. */
export function openMxChannel(connector: Connector, deps: ChannelDeps): Channel {
  const settings = toMxSettings(connector);
  const health = openHealth(settings, deps);
  const parts = createParts(settings, deps, health.markDown);
  const sends = createInFlight();
  const freeSlots = () => (health.isUp() ? Math.max(0, settings.maxConnections - sends.count()) : 0);

  return {
    connectorId: connector.id,
    sendTimeoutMs: settings.sendTimeoutMs,
    largeAtATime: largeAtATime(settings.maxConnections),
    reachesMany: true,
    start: health.start,
    freeSlots,
    status: health.status,
    async send(message, signal, isOurs = NOBODY_ELSE.isOurs) {
      if (message.channel !== "email")
        return { parts: message.parts.map(() => NOT_AN_EMAIL), countsAsAttempt: true };
      const recipients = recipientsOf(message);
      if (freeSlots() === 0) return deferAll(recipients, NO_CONNECTION);
      const outcome = await sends.add(
        withinLimit(deps.clock, { limitMs: settings.sendTimeoutMs, signal }, (limited) => {
          const sending = { message, recipients, signal: limited, isOurs, deps };
          return sendComposed(sending, "mx.fault", (mail) => sendToDomains(parts, sending, mail));
        }),
      );
      deps.onSlots();
      return outcome;
    },
    async stop() {
      // Each has a time limit of its own. A change of settings is no reason for a message to be in doubt, and to be sent twice.
      await Promise.all([health.stop(), sends.whenEmpty()]);
      await parts.sessions.quitAll();
    },
  };
}

const NOT_AN_EMAIL: PartOutcome = {
  kind: "rejected",
  error: { code: "mx.wrong_channel", message: "not an email" },
};

/** It is up unless this machine lacks the address to connect from: what one host of many says or does is no fault of the connector. */
function openHealth({ session: { localAddress } }: MxSettings, deps: ChannelDeps): HostHealth {
  const { clock, random, onStatus, onSlots: onUp } = deps;
  const reasonOf = ({ message }: MessageError) => message;
  const probe = async (): Promise<MessageError | undefined> => {
    const missing = localAddress === undefined ? undefined : await missingLocalAddress(localAddress);
    return missing === undefined ? undefined : { code: "mx.local_address", message: missing };
  };
  return createHostHealth({ clock, random, probe, onUp, onStatus, reasonOf });
}

function createParts(
  settings: MxSettings,
  deps: ChannelDeps,
  onMissingAddress: (fault: MessageError) => void,
): MxParts {
  const { clock, random, log } = deps;
  const { network, policies: kept } = deps.mail;
  const { allowedRanges, mtaStsPort: port, keepsMtaSts } = settings;
  const { ca } = settings.session;
  const stsDeps = { network, allowedRanges, clock, port, log, kept, ...present({ ca }) };
  const visits = createHostVisits(clock);
  const full = createFullHosts(clock);
  return {
    settings,
    dns: network.dns,
    rules: network.addressRules(allowedRanges),
    policies: keepsMtaSts ? createMtaSts(stsDeps) : undefined,
    visits,
    sessions: createHostSessions(settings, { clock, visits, full, onMissingAddress }),
    domainLimits: createDestinationLimits(clock, settings.perDomain),
    hostLimits: createDestinationLimits(clock, settings.perHost, full.mostAt),
    clock,
    random,
    log,
  };
}

async function sendToDomains(parts: MxParts, sending: Sending, mail: Mail): Promise<SendOutcome> {
  const { message, recipients, signal, isOurs } = sending;
  const { remainingMs } = message;
  const domains = Map.groupBy(recipients.addresses, asciiDomainOf);
  const delivered = await Promise.all(
    [...domains].map(([domain, addresses]) =>
      deliverToDomain(parts, domain, {
        mail,
        signal,
        isOurs,
        remainingMs,
        envelopes: envelopesTo(addresses, sending),
      }),
    ),
  );
  const outcomes = new Map(delivered.flatMap((each) => [...each.outcomes]));
  return {
    parts: recipients.outcomes((address) => outcomes.get(address) ?? UNTRIED),
    countsAsAttempt: delivered.some((each) => each.countsAsAttempt),
    detail: {
      recipients: recipients.addresses.length,
      octets: mail.raw.length,
      ...hostsOf(delivered),
      ...securityOf(delivered),
    },
  };
}

const UNTRIED: PartOutcome = { kind: "deferred", error: CALLED_OFF };

function envelopesTo(addresses: readonly string[], { message, recipients, deps }: Sending) {
  const asked = { returnPaths: deps.mail.returnPaths, wantsSuccess: false };
  return envelopesOf(message, { ...recipients, addresses }, asked);
}

/** How many hosts an attempt names: one message may go to fifty domains, and strangers decide how many hosts they have. */
const MAX_NAMED = 10;

/** Whom an operator has to ask what became of the message: one domain may have several hosts. */
function hostsOf(delivered: readonly Delivered[]) {
  const hosts = [...new Set(delivered.flatMap((each) => each.hosts))];
  if (hosts.length === 0) return {};
  const more = hosts.length - MAX_NAMED;
  return { hosts: hosts.slice(0, MAX_NAMED), ...(more > 0 && { more_hosts: more }) };
}

function securityOf(delivered: readonly Delivered[]): { readonly tls?: boolean } {
  const known = delivered.filter(({ isSecure }) => isSecure !== undefined);
  return known.length === 0 ? {} : { tls: known.every(({ isSecure }) => isSecure) };
}
