import { domainToASCII } from "node:url";
import type { Clock } from "../../../core/clock.ts";
import type { MailPolicy } from "../../../core/email/mail-policy.ts";
import { present } from "../../../core/present.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { unlessAborted } from "../../../core/work/unless-aborted.ts";
import type { CheckReach } from "../../channel.ts";
import { greetingAdvice } from "../smtp/ehlo-name.ts";
import { openSmtpSession } from "../smtp/smtp-session.ts";
import { withinLimit } from "../smtp/within-limit.ts";
import { findMailHosts } from "./find-mail-hosts.ts";
import { addressesOf, type HostAddress, sessionSettings } from "./host-address.ts";
import { createMtaSts } from "./mta-sts.ts";
import { type MxSettings, toMxSettings } from "./mx-config.ts";

/** Used where the operator names no domain. Who reaches its mail hosts can connect to port 25. */
const DEFAULT_DOMAIN = "gmail.com";

/** Together with the 2 s that QUIT may take, within the 15 s of `ConnectorKind.check`. */
const CHECK_LIMIT_MS = 12_000;

/** Addresses that are tried. */
const MAX_TRIES = 4;

export interface Checked {
  readonly ok: boolean;
  readonly detail: string;
}

/** Does what delivering to the domain does, up to EHLO and STARTTLS; then quits, and tells what it found. */
export async function checkMx(connector: Connector, clock: Clock, reach?: CheckReach): Promise<Checked> {
  if (!reach) return { ok: false, detail: "the check was given no way into the network" };
  const settings = toMxSettings(connector);
  const domain = domainToASCII(reach.domain ?? DEFAULT_DOMAIN);
  return withinLimit(clock, { limitMs: CHECK_LIMIT_MS }, (signal) =>
    check({ settings, domain, reach, clock, signal }),
  );
}

interface Check {
  readonly settings: MxSettings;
  readonly domain: string;
  readonly reach: CheckReach;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

async function check(given: Check): Promise<Checked> {
  const { settings, domain, reach, clock, signal } = given;
  const rules = reach.network.addressRules(settings.allowedRanges);
  const finder = { dns: reach.network.dns, rules, clock, family: settings.family };
  const questions = Promise.all([findMailHosts(domain, finder), policyOf(given)]);
  const answers = await unlessAborted(questions, signal);
  if (!answers) return { ok: false, detail: `${domain}: the DNS did not answer in time` };
  const [found, policy] = answers;
  if (found.kind !== "hosts") return { ok: false, detail: `${domain}: ${found.error.message}` };
  const said = policy ? `; MTA-STS policy ${policy.mode}` : "";
  const targets = addressesOf(found.hosts, policy);
  if (targets.length === 0)
    return { ok: false, detail: `${domain}: its MTA-STS policy names none of its mail hosts` };
  const advice = greetingAdvice(settings.session.ehloName);
  const faults: string[] = [];
  for (const target of targets.slice(0, MAX_TRIES)) {
    const tried = await greet(given, target);
    if (tried.ok)
      return { ok: true, detail: [`${domain}: ${tried.detail}${said}`, ...faults].join("; ") + advice };
    faults.push(tried.detail);
  }
  return { ok: false, detail: `${domain}: ${faults.join("; ")}${said}${advice}` };
}

async function policyOf({ settings, domain, reach, clock, signal }: Check): Promise<MailPolicy | undefined> {
  if (!settings.keepsMtaSts) return undefined;
  const { allowedRanges, mtaStsPort: port } = settings;
  const { network } = reach;
  const policies = createMtaSts({
    network,
    allowedRanges,
    clock,
    port,
    ...present({ ca: settings.session.ca }),
  });
  return policies.policyOf(domain, signal);
}

async function greet({ settings, clock, signal }: Check, target: HostAddress): Promise<Checked> {
  const where = `${target.name} (${target.address}, port ${settings.session.port})`;
  const opened = await openSmtpSession(sessionSettings(settings, target), clock, signal);
  if ("fault" in opened)
    return { ok: false, detail: `${where}: ${opened.fault.code}: ${opened.fault.message}` };
  const { session } = opened;
  await session.quit();
  const proof = target.mustProve ? "over TLS with a certificate that proves it" : "over TLS";
  return { ok: true, detail: `${where} answers ${session.isSecure ? proof : "without TLS"}` };
}
