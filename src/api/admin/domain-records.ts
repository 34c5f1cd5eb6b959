/** The DNS records that prove a domain, and the comparison with what DNS holds. */
import { domainToASCII } from "node:url";
import type { Domain } from "../../core/accounts.ts";

export interface DnsRecord {
  readonly purpose: "ownership" | "dkim" | "return_path";
  readonly type: "TXT" | "CNAME";
  readonly name: string;
  readonly value: string;
  /** TXT: the value in strings of at most 255 octets, as zone files want long ones (RFC 1035 §3.3.14). */
  readonly strings?: readonly string[];
}

export function recordsOf(domain: Domain): readonly DnsRecord[] {
  const name = domainToASCII(domain.domain);
  return [
    txt("ownership", `_postrider.${name}`, domain.ownershipToken),
    txt("dkim", `${domain.dkimSelector}._domainkey.${name}`, `v=DKIM1; k=rsa; p=${domain.dkimPublicKey}`),
    // Through the alias, mail and SPF of the return path are those of the domain itself, and stay so.
    { purpose: "return_path", type: "CNAME", name: `bounce.${name}`, value: name },
  ];
}

function txt(purpose: DnsRecord["purpose"], name: string, value: string): DnsRecord {
  return { purpose, type: "TXT", name, value, strings: value.match(/.{1,255}/g) ?? [] };
}

export interface Dns {
  resolveTxt(name: string): Promise<readonly (readonly string[])[]>;
  resolveMx(name: string): Promise<readonly { readonly exchange: string; readonly priority: number }[]>;
  resolveCname(name: string): Promise<readonly string[]>;
}

export interface CheckedRecord extends DnsRecord {
  readonly ok: boolean;
  /** What DNS holds under the name. */
  readonly found: readonly string[];
  /** Why it does not do, in words. */
  readonly problem?: string;
}

/** Never rejects: a resolver that fails is a problem of the record. */
export function checkRecord(dns: Dns, record: DnsRecord): Promise<CheckedRecord> {
  return record.type === "TXT" ? checkTxt(dns, record) : checkReturnPath(dns, record);
}

async function checkTxt(dns: Dns, record: DnsRecord): Promise<CheckedRecord> {
  const answer = await lookUp(async () => {
    const entries = await dns.resolveTxt(record.name);
    return entries.map((strings) => strings.join("").trim());
  });
  if ("failure" in answer) return { ...record, ok: false, found: [], problem: answer.failure };
  const { found } = answer;
  // Some resolvers (Bun 1.4's among them) give the strings of one long record as if they were records of their own.
  const values = [...found, found.join("")];
  if (values.some((value) => sameTxt(record, value))) return { ...record, ok: true, found };
  const problem = found.length > 0 ? "there is a TXT record, but with another value" : "no TXT record yet";
  return { ...record, ok: false, found, problem };
}

/** DKIM records are lists of tags (RFC 6376 §3.6.1): spaces and further tags do not matter, the key does. */
function sameTxt(record: DnsRecord, value: string): boolean {
  return record.purpose === "dkim" ? dkimKey(value) === dkimKey(record.value) : value === record.value;
}

function dkimKey(value: string): string | undefined {
  const tags = value.split(";").map((tag) => tag.replaceAll(/\s/g, ""));
  return tags.find((tag) => tag.startsWith("p="));
}

/** The alias as shown, or a host of the operator's own choice that takes mail. */
async function checkReturnPath(dns: Dns, record: DnsRecord): Promise<CheckedRecord> {
  const alias = await lookUp(async () => (await dns.resolveCname(record.name)).map(plainName));
  const names = "found" in alias ? alias.found : [];
  if (names.includes(plainName(record.value))) return { ...record, ok: true, found: names };
  const mail = await lookUp(async () => {
    const hosts = await dns.resolveMx(record.name);
    // An empty exchange is a null MX (RFC 7505): this host takes no mail.
    return hosts.map(({ exchange }) => plainName(exchange)).filter((exchange) => exchange !== "");
  });
  if ("failure" in mail) return { ...record, ok: false, found: names, problem: mail.failure };
  if (mail.found.length > 0) return { ...record, ok: true, found: mail.found.map((host) => `MX ${host}`) };
  const problem =
    names.length > 0 ? "the alias leads elsewhere, to a host without MX" : "no CNAME and no MX record yet";
  return { ...record, ok: false, found: names, problem };
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

type Answer = { readonly found: readonly string[] } | { readonly failure: string };

async function lookUp(ask: () => Promise<readonly string[]>): Promise<Answer> {
  try {
    return { found: await ask() };
  } catch (error) {
    const code = String((error as { code?: unknown } | null)?.code ?? "no answer");
    if (code === "ENOTFOUND" || code === "ENODATA") return { found: [] };
    return { failure: `DNS could not be asked (${code}); try again later` };
  }
}
