import type { Clock } from "../../../core/clock.ts";
import { bothFamilies } from "../../../core/domains/both-families.ts";
import { type Dns, dnsCode, isNoRecord, type MxRecord } from "../../../core/domains/dns.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import type { AddressRules } from "../../network.ts";
import type { MxSettings } from "./mx-config.ts";

/** A host that takes mail for a domain, and where it is. */
export interface MailHost {
  readonly name: string;
  /** Lower comes first. */
  readonly priority: number;
  /** At least one, in the order to try; none is in a forbidden range. */
  readonly addresses: readonly string[];
}

export type MailHosts =
  /** In order of preference. */
  | { readonly kind: "hosts"; readonly hosts: readonly MailHost[] }
  /** The domain takes no mail. */
  | { readonly kind: "never"; readonly error: MessageError }
  /** The DNS did not say. */
  | { readonly kind: "later"; readonly error: MessageError };

export interface HostFinder {
  readonly dns: Omit<Dns, "resolveTxt">;
  readonly rules: AddressRules;
  readonly clock: Pick<Clock, "after">;
  readonly family: MxSettings["family"];
}

/** How many hosts are used, and addresses of each: strangers decide how many their zones have. */
const MAX_HOSTS = 10;
const MAX_ADDRESSES = 4;

/** The mail hosts of a domain (in A-labels) by RFC 5321 §5.1: its MX records, else its own addresses. Never rejects. */
export async function findMailHosts(domain: string, finder: HostFinder): Promise<MailHosts> {
  const records = await mxRecords(domain, finder);
  if ("error" in records) return { kind: "later", ...records };
  const named = records.filter(({ exchange }) => exchange !== "");
  // A null MX: one record with an empty name (RFC 7505).
  if (named.length === 0 && records.length > 0) return { kind: "never", error: NULL_MX };
  const isImplicit = named.length === 0;
  const wanted = isImplicit ? [{ exchange: domain, priority: 0 }] : byPriority(named).slice(0, MAX_HOSTS);
  const found = await Promise.all(wanted.map((record) => locate(record, finder)));
  const hosts = found.filter((each) => "addresses" in each);
  if (hosts.length > 0) return { kind: "hosts", hosts };
  const errors = found.flatMap((each) => ("error" in each ? [each.error] : []));
  // A host that the DNS did not tell of may be one that takes the mail.
  const unknown = errors.find(({ code }) => code === UNANSWERED_CODE);
  if (unknown) return { kind: "later", error: unknown };
  const blocked = errors.find(({ code }) => code === BLOCKED_CODE);
  if (blocked) return { kind: "never", error: blocked };
  if (isImplicit && errors.every((error) => error === NO_ADDRESS)) return noHost(domain, finder);
  return { kind: "later", error: errors[0] ?? NO_ADDRESS };
}

const NULL_MX: MessageError = { code: "5.1.10", message: "the domain takes no mail (null MX)" };
const NO_HOST: MessageError = { code: "5.1.2", message: "the domain does not exist, or has no mail host" };
const NO_ADDRESS: MessageError = { code: "4.4.4", message: "no mail host of the domain has an address" };
const BLOCKED_CODE = "5.4.4";
const UNANSWERED_CODE = "4.4.3";

/** How many aliases are followed; some resolvers give up sooner. Each may take as long as any question to DNS. */
const MAX_ALIASES = 8;

/**
 * The result if no host was found: the domain takes no mail, unless aliases lead in a circle, which is a slip in a zone whose
 * owners want mail. Some resolvers answer that with SERVFAIL, others as if there were no records.
 */
async function noHost(domain: string, { dns }: HostFinder): Promise<MailHosts> {
  let name: string | undefined = domain;
  for (let count = 0; count < MAX_ALIASES; count++) {
    const at: string = name;
    const answer = await ask(() => dns.resolveCname(at));
    if ("error" in answer) return { kind: "later", ...answer };
    name = answer[0];
    if (name === undefined) return { kind: "never", error: NO_HOST };
  }
  return { kind: "later", error: ENDLESS_ALIAS };
}

const ENDLESS_ALIAS: MessageError = {
  code: "4.4.4",
  message: "the domain's alias (CNAME) leads in a circle",
};

function byPriority(records: readonly MxRecord[]): readonly MxRecord[] {
  return records.toSorted((a, b) => a.priority - b.priority);
}

async function mxRecords(
  domain: string,
  { dns }: HostFinder,
): Promise<readonly MxRecord[] | { readonly error: MessageError }> {
  try {
    return await dns.resolveMx(domain);
  } catch (error) {
    return isNoRecord(error) ? [] : { error: unanswered(error) };
  }
}

function unanswered(error: unknown): MessageError {
  return { code: UNANSWERED_CODE, message: `the domain's DNS did not answer (${dnsCode(error)})` };
}

async function locate(
  { exchange, priority }: MxRecord,
  finder: HostFinder,
): Promise<MailHost | { readonly error: MessageError }> {
  const { dns, rules, clock, family } = finder;
  const name = exchange.toLowerCase().replace(/\.$/, "");
  const [v4, v6] = await bothFamilies<Addresses>({
    asked: [
      family === "ipv6" ? Promise.resolve([]) : ask(() => dns.resolve4(name)),
      family === "ipv4" ? Promise.resolve([]) : ask(() => dns.resolve6(name)),
    ],
    hasAddresses: (answer) => "length" in answer && answer.length > 0,
    none: [],
    clock,
  });
  const addresses = [v4, v6].flatMap((answer) => ("error" in answer ? [] : answer));
  for (const address of addresses) {
    const range = rules.blockedBy(address);
    // One forbidden address is enough: a name that leads into our network is an attack or a mistake.
    if (range !== undefined) return { error: blocked(range) };
  }
  if (addresses.length > 0) return { name, priority, addresses: addresses.slice(0, MAX_ADDRESSES) };
  const failure = [v4, v6].find((answer) => "error" in answer);
  return { error: failure && "error" in failure ? failure.error : await whyNone(name, finder) };
}

/** A host that has only addresses which the connector does not use is there: its domain takes the mail of others. */
async function whyNone(name: string, { dns, family }: HostFinder): Promise<MessageError> {
  if (family === "any") return NO_ADDRESS;
  const [kind, others] = family === "ipv4" ? ["IPv4", dns.resolve6] : ["IPv6", dns.resolve4];
  const found = await ask(() => others(name));
  if ("error" in found) return found.error;
  if (found.length === 0) return NO_ADDRESS;
  return {
    ...NO_ADDRESS,
    message: `no mail host of the domain has an ${kind} address, and the connector uses no others`,
  };
}

function blocked(range: string): MessageError {
  return {
    code: BLOCKED_CODE,
    message: `a mail host of the domain is in ${range}, which is not connected to`,
  };
}

type Addresses = readonly string[] | { readonly error: MessageError };

async function ask(question: () => Promise<readonly string[]>): Promise<Addresses> {
  try {
    return await question();
  } catch (error) {
    return isNoRecord(error) ? [] : { error: unanswered(error) };
  }
}
