import type { Clock, Random } from "../../../core/clock.ts";
import type { MailPolicy } from "../../../core/email/mail-policy.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import { present } from "../../../core/present.ts";
import type { ChannelLog } from "../../channel.ts";
import type { AddressRules, Network } from "../../network.ts";
import {
  CALLED_OFF,
  type HandedOver,
  type Handover,
  handOver,
  NO_SMTPUTF8,
  nothingHandedOver,
} from "../smtp/hand-over.ts";
import type { Envelope } from "../smtp/smtp-transaction.ts";
import type { Booking, DestinationLimits } from "./destination-limits.ts";
import { findMailHosts, type MailHost } from "./find-mail-hosts.ts";
import { addressesOf, type HostAddress } from "./host-address.ts";
import { type HostSessions, TOO_MANY } from "./host-sessions.ts";
import type { HostVisits } from "./host-visits.ts";
import type { MtaSts } from "./mta-sts.ts";
import { allowsHost } from "./mta-sts-policy.ts";
import type { MxSettings } from "./mx-config.ts";
import { busy, type FaultAtHost, isHeldBack, notOffered } from "./not-offered.ts";

/** What the deliveries of one connector share. */
export interface MxParts {
  readonly settings: MxSettings;
  readonly dns: Network["dns"];
  readonly rules: AddressRules;
  readonly policies: MtaSts | undefined;
  readonly visits: HostVisits;
  readonly sessions: HostSessions;
  readonly domainLimits: DestinationLimits;
  readonly hostLimits: DestinationLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ChannelLog;
}

export interface Delivery extends Handover {
  /** Milliseconds until the message expires. */
  readonly remainingMs: number;
}

export interface Delivered {
  /** The outcome of every address of the envelopes. */
  readonly outcomes: ReadonlyMap<string, PartOutcome>;
  /** False if our own limits, or a host's rest, held the message back, so that no host was asked. */
  readonly countsAsAttempt: boolean;
  readonly isSecure?: boolean;
  /** The names of the hosts that were offered the message, in this order: the next one gets what one has put off. */
  readonly hosts: readonly string[];
}

/** How many connections are tried for one message to one domain, and how many hosts may put it off. */
const MAX_TRIES = 8;
const MAX_PUT_OFF = 3;

/** Hands a message to the first host of a domain (in A-labels) that takes it. Rejects only for a bug. */
export async function deliverToDomain(
  parts: MxParts,
  domain: string,
  handover: Delivery,
): Promise<Delivered> {
  const entry = await parts.domainLimits.enter([domain], handover.signal);
  if (entry.kind === "full") return held(handover, toBusy(entry, handover));
  try {
    return await deliver(parts, domain, handover);
  } finally {
    entry.leave();
  }
}

async function deliver(parts: MxParts, domain: string, handover: Delivery): Promise<Delivered> {
  const { dns, rules, clock } = parts;
  const finder = { dns, rules, clock, family: parts.settings.family };
  const [found, policy] = await Promise.all([
    findMailHosts(domain, finder),
    parts.policies?.policyOf(domain, handover.signal),
  ]);
  if (handover.signal.aborted) return held(handover, CALLED_OFF);
  if (found.kind === "never") return all(handover, { kind: "rejected", error: found.error, bounced: true });
  if (found.kind === "later") return all(handover, deferred(found.error));
  const targets = targetsOf(parts, { domain, hosts: found.hosts, policy });
  if (targets.length === 0) return all(handover, deferred(NOT_IN_POLICY));
  return tryTargets(parts, targets.slice(0, MAX_TRIES), handover);
}

const NOT_IN_POLICY: MessageError = {
  code: "4.7.5",
  message: "MTA-STS: none of the domain's mail hosts is in its policy",
};

interface Choice {
  readonly domain: string;
  readonly hosts: readonly MailHost[];
  readonly policy: MailPolicy | undefined;
}

/** The addresses to try: by preference, at random if that is equal (RFC 5321 §5.1); those that failed lately come last. */
function targetsOf(parts: MxParts, { domain, hosts, policy }: Choice): readonly HostAddress[] {
  if (policy?.mode === "testing" && !hosts.every(({ name }) => allowsHost(policy, name)))
    parts.log.info({ domain }, "a mail host is not in the domain's MTA-STS policy, which is being tested");
  return addressesOf(shuffled(hosts, parts.random), policy).toSorted(
    (a, b) => Number(parts.visits.hasFailed(a)) - Number(parts.visits.hasFailed(b)),
  );
}

function shuffled(hosts: readonly MailHost[], random: Random): readonly MailHost[] {
  return hosts
    .map((host) => ({ host, chance: random() }))
    .toSorted((a, b) => a.host.priority - b.host.priority || a.chance - b.chance)
    .map(({ host }) => host);
}

/** Offers the message to one target after the other, until each recipient has an answer, or there is no use in going on. */
async function tryTargets(
  parts: MxParts,
  targets: readonly HostAddress[],
  handover: Delivery,
): Promise<Delivered> {
  const round: Round = {
    outcomes: new Map(),
    faults: [],
    asked: [],
    waiting: targets,
    left: handover.envelopes,
    timesPutOff: 0,
  };
  for (let target = nextIn(round, handover); target; target = nextIn(round, handover)) {
    round.waiting = round.waiting.slice(1);
    note(round, target, await offerLeft(parts, target, { round, handover }));
    const rest = parts.visits.restOf(target);
    // What a host says of us holds for the domain's others; but one that takes no connection may have another take its mail.
    if (rest === "wait") break;
    if (rest === "shut") round.waiting = round.waiting.filter(isOfOther(target));
  }
  return toDelivered(round);
}

/** How far a message has come with the targets of a domain. */
interface Round {
  /** By address. Those that another host may take have one too, which counts if none does. */
  readonly outcomes: Map<string, PartOutcome>;
  /** Of the targets that were not offered all of it. */
  readonly faults: FaultAtHost[];
  readonly asked: Asked[];
  /** The targets that are still to be asked. */
  waiting: readonly HostAddress[];
  /** What is to be offered to them. */
  left: readonly Envelope[];
  timesPutOff: number;
}

function nextIn(
  { waiting, left, timesPutOff }: Round,
  { signal, isOurs }: Delivery,
): HostAddress | undefined {
  const isOver = left.length === 0 || timesPutOff === MAX_PUT_OFF || signal.aborted || !isOurs();
  return isOver ? undefined : waiting[0];
}

function offerLeft(
  parts: MxParts,
  target: HostAddress,
  { round: { waiting, left: envelopes }, handover }: { readonly round: Round; readonly handover: Delivery },
): Promise<Offered> {
  const leavesSilent = waiting.some(isOfOther(target));
  return offer(parts, target, { ...handover, envelopes, leavesSilent, hasOthers: waiting.length > 0 });
}

function note(round: Round, target: HostAddress, handed: Offered): void {
  for (const [address, outcome] of handed.outcomes) round.outcomes.set(address, asDelivered(outcome));
  if (handed.outcomes.size > 0 || handed.wasBrokenOff) round.asked.push({ host: target.name, handed });
  if (handed.fault) round.faults.push({ ...handed.fault, host: target.name });
  // A host that is full or closes says nothing of the others (RFC 5321 §5.1).
  round.left = [...handed.putOff, ...handed.left];
  if (handed.putOff.length === 0) return;
  round.timesPutOff++;
  // Behind its other addresses the host is likely to be as full.
  round.waiting = round.waiting.toSorted(
    (a, b) => Number(a.name === target.name) - Number(b.name === target.name),
  );
}

function isOfOther({ name }: HostAddress): (target: HostAddress) => boolean {
  return (target) => target.name !== name;
}

/** What the round has come to: the recipients that are left have the outcome that another host was to better, or the faults'. */
function toDelivered({ outcomes, faults, asked, waiting, left, timesPutOff }: Round): Delivered {
  const { outcome, countsAsAttempt } = notOffered(faults);
  const isCutShort = waiting.length > 0 && timesPutOff < MAX_PUT_OFF;
  const mayHaveUtf8 = isCutShort || faults.some(isHeldBack);
  for (const address of recipientsIn(left)) {
    const known = outcomes.get(address);
    // A host that was not asked for a reason of ours may have what the others lack.
    if (known === NO_SMTPUTF8 && mayHaveUtf8) outcomes.set(address, deferred(outcome.error));
    else outcomes.set(address, known ?? outcome);
  }
  const isSecure = wasSecure(asked.map(({ handed }) => handed));
  return {
    outcomes,
    countsAsAttempt: countsAsAttempt || asked.some(({ handed }) => handed.outcomes.size > 0),
    hosts: asked.map(({ host }) => host),
    ...present({ isSecure }),
  };
}

/** A host that was offered the message, and what became of it there. */
interface Asked {
  readonly host: string;
  readonly handed: HandedOver;
}

/**
 * Offers the envelopes to one host, unless as many mails as allowed are on their way there. Counted by its name and by its address: a
 * name may have many addresses, and on shared servers every customer's domain has a name of its own for the same address.
 */
async function offer(parts: MxParts, target: HostAddress, handover: Offer): Promise<Offered> {
  const { signal, hasOthers } = handover;
  const entry = await parts.hostLimits.enter([target.name, target.address], signal, hasOthers);
  if (entry.kind === "full") {
    const fault = toBusy(entry, handover);
    return { ...nothingHandedOver(handover, fault), fault };
  }
  const handed = await handOver(parts.sessions.connectionsTo(target), handover).finally(entry.leave);
  if (handed.fault !== TOO_MANY) return handed;
  return { ...handed, fault: { ...TOO_MANY, book: () => entry.book(handover.remainingMs) } };
}

interface Offer extends Delivery {
  /** Whether the domain has other hosts, or the host other addresses, that have not been tried. */
  readonly hasOthers: boolean;
}

interface Offered extends HandedOver {
  readonly fault?: FaultAtHost;
}

function toBusy({ book }: Booking, { remainingMs }: Delivery): FaultAtHost {
  return busy(() => book(remainingMs));
}

/** Whether all that have got the mail, or may have, were told it over TLS; of the last one, if there are none. */
function wasSecure(asked: readonly HandedOver[]): boolean | undefined {
  const have = asked.filter(({ outcomes }) => [...outcomes.values()].some(mayHaveIt));
  if (have.length > 0) return have.every(({ detail }) => detail.tls === true);
  return asked.length > 0 ? asked.at(-1)?.detail.tls === true : undefined;
}

function mayHaveIt({ kind }: PartOutcome): boolean {
  return kind === "sent" || kind === "unconfirmed";
}

/** Turns `sent` into delivered: the recipient's own host has taken the mail. Nothing more will be heard, unless it bounces. */
function asDelivered(outcome: PartOutcome): PartOutcome {
  if (outcome.kind !== "sent") return outcome;
  return { kind: "sent", providerMessageIds: outcome.providerMessageIds, delivered: true };
}

function deferred(error: MessageError): PartOutcome {
  return { kind: "deferred", error };
}

function held(handover: Handover, fault: FaultAtHost): Delivered {
  const { outcome, countsAsAttempt } = notOffered([fault]);
  return { ...all(handover, outcome), countsAsAttempt };
}

function all({ envelopes }: Handover, outcome: PartOutcome): Delivered {
  const outcomes = new Map(recipientsIn(envelopes).map((address) => [address, outcome] as const));
  return { outcomes, countsAsAttempt: true, hosts: [] };
}

function recipientsIn(envelopes: readonly Envelope[]): readonly string[] {
  return envelopes.flatMap(({ to }) => to);
}
