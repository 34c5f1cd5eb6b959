import type { Clock } from "../../../core/clock.ts";
import type { KeptMailPolicy, MailPolicy } from "../../../core/email/mail-policy.ts";
import { DAY_MS } from "../../../core/time/durations.ts";
import { remember } from "../../../core/work/remember.ts";
import type { MailPolicyStore } from "../../../store/store.ts";
import type { ChannelLog } from "../../channel.ts";
import type { Network } from "../../network.ts";
import { fetchPolicy } from "./fetch-policy.ts";
import { findMailHosts } from "./find-mail-hosts.ts";
import { parseStsPolicy, stsIdOf } from "./mta-sts-policy.ts";

/** The MTA-STS policies of domains that mail goes to, kept for as long as they hold, also over restarts. */
export interface MtaSts {
  /** `undefined`: the domain has none, it could not be fetched, or `signal` has called it off. Never rejects. */
  readonly policyOf: (domain: string, signal: AbortSignal) => Promise<MailPolicy | undefined>;
}

export interface MtaStsDeps {
  readonly network: Network;
  readonly allowedRanges: readonly string[];
  readonly clock: Clock;
  readonly port: number;
  readonly ca?: string;
  readonly log?: Pick<ChannelLog, "info">;
  /** Keeps policies over restarts; absent: they are forgotten when the process ends. */
  readonly kept?: MailPolicyStore;
}

/** How often DNS is asked whether the policy has changed. */
const ASKED_EVERY_MS = 5 * 60_000;
/** The age at which a policy is fetched anew at the latest. */
const REFRESHED_AFTER_MS = DAY_MS;
const MAX_DOMAINS = 10_000;

interface Kept {
  readonly askedAt: number;
  readonly id?: string;
  readonly policy?: MailPolicy;
  readonly expiresAt: number;
  /** It could not be fetched anew, and the log says so. */
  readonly isOverdue?: true;
}

export function createMtaSts(deps: MtaStsDeps): MtaSts {
  const { clock } = deps;
  const kept = new Map<string, Kept>();
  const asking = new Map<string, Promise<Kept | undefined>>();

  /** `undefined` if it was called off, which says nothing about the domain: the next message asks again. */
  const renew = async (domain: string, signal: AbortSignal): Promise<Kept | undefined> => {
    const known = kept.get(domain) ?? (await recall(deps, domain));
    const renewed = await ask(deps, { domain, known, signal });
    if (signal.aborted && renewed.policy === known?.policy) return undefined;
    if (renewed.policy !== known?.policy) await keep(deps, domain, renewed);
    remember(kept, [domain, renewed], MAX_DOMAINS);
    return renewed;
  };
  return {
    async policyOf(domain, signal) {
      const known = kept.get(domain);
      // The clock may have been set back since.
      const isFresh = known !== undefined && Math.abs(clock.now() - known.askedAt) < ASKED_EVERY_MS;
      if (isFresh) return inForce(known, clock);
      while (!signal.aborted) {
        const under = asking.get(domain) ?? renew(domain, signal).finally(() => asking.delete(domain));
        asking.set(domain, under);
        const renewed = await under;
        // Otherwise it was asked for another message, which was called off.
        if (renewed) return inForce(renewed, clock);
      }
      return undefined;
    },
  };
}

/** The stored policy. A message need not wait for a database that is away: then the policy is fetched as if it were new. */
async function recall({ kept }: MtaStsDeps, domain: string): Promise<Kept | undefined> {
  const found = await kept?.find(domain).catch(() => undefined);
  return found && { askedAt: 0, id: found.policyId, policy: found, expiresAt: found.expiresAt };
}

async function keep(
  { kept, clock }: MtaStsDeps,
  domain: string,
  { id, policy, expiresAt }: Kept,
): Promise<void> {
  if (!policy || id === undefined) return;
  const found: KeptMailPolicy = { ...policy, policyId: id, expiresAt };
  await kept?.keep(domain, found, clock.now()).catch(() => {});
}

function inForce({ policy, expiresAt }: Kept, clock: Clock): MailPolicy | undefined {
  return clock.now() < expiresAt ? policy : undefined;
}

interface Question {
  readonly domain: string;
  readonly known: Kept | undefined;
  readonly signal: AbortSignal;
}

/** A policy once fetched holds until its max_age is over, whatever becomes of its record or its file (RFC 8461 §3.3). */
async function ask(deps: MtaStsDeps, { domain, known, signal }: Question): Promise<Kept> {
  const askedAt = deps.clock.now();
  const unchanged: Kept = { ...known, askedAt, expiresAt: endOf(known, askedAt) };
  const id = await publishedId(deps, domain);
  const isSame = id === undefined || (id === known?.id && !isOld(known, askedAt));
  if (isSame) return unchanged;
  const policy = await fetchCurrent(deps, domain, signal);
  if (policy) return { askedAt, id, policy, expiresAt: askedAt + policy.maxAgeMs };
  if (!inForce(unchanged, deps.clock) || signal.aborted) return unchanged;
  if (!unchanged.isOverdue) {
    const until = new Date(unchanged.expiresAt).toISOString();
    deps.log?.info({ domain, until }, "a domain's MTA-STS policy could not be fetched anew");
  }
  return { ...unchanged, isOverdue: true };
}

/** One that was fetched while the clock was ahead would hold for as much longer. */
function endOf(known: Kept | undefined, now: number): number {
  return Math.min(known?.expiresAt ?? 0, now + maxAgeOf(known));
}

/**
 * Whether a policy that has not changed is to be fetched anew: long before it ends, or else somebody who keeps us from fetching it at
 * that moment could have mail sent without it (RFC 8461 §3.3). If that fails, it holds to its end, and is asked for again meanwhile.
 * One that was fetched later than now is as old as nobody knows: the clock was set back.
 */
function isOld(known: Kept, now: number): boolean {
  const maxAgeMs = maxAgeOf(known);
  const ageMs = now - (known.expiresAt - maxAgeMs);
  return ageMs < 0 || ageMs >= Math.min(maxAgeMs / 2, REFRESHED_AFTER_MS);
}

function maxAgeOf(known: Kept | undefined): number {
  return known?.policy?.maxAgeMs ?? 0;
}

/** No answer counts as no record: an attacker who can suppress the answer now could have suppressed the first one too. */
async function publishedId({ network }: MtaStsDeps, domain: string): Promise<string | undefined> {
  try {
    const records = await network.dns.resolveTxt(`_mta-sts.${domain}`);
    return stsIdOf(records.map((strings) => strings.join("")));
  } catch {
    return undefined;
  }
}

async function fetchCurrent(
  deps: MtaStsDeps,
  domain: string,
  signal: AbortSignal,
): Promise<MailPolicy | undefined> {
  const { network, port, ca, clock } = deps;
  const host = `mta-sts.${domain}`;
  const rules = network.addressRules(deps.allowedRanges);
  const dns = {
    resolveMx: async () => [],
    resolve4: (name: string) => network.dns.resolve4(name),
    resolve6: (name: string) => network.dns.resolve6(name),
    resolveCname: (name: string) => network.dns.resolveCname(name),
  };
  const found = await findMailHosts(host, { dns, rules, clock, family: "any" });
  const address = found.kind === "hosts" ? found.hosts[0]?.addresses[0] : undefined;
  if (address === undefined) return undefined;
  const text = await fetchPolicy({ host, address, port, ...(ca !== undefined && { ca }) }, clock, signal);
  return text === undefined ? undefined : parseStsPolicy(text);
}
