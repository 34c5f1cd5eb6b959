/** Compares the records that a domain needs with those in DNS, which is an argument. */
import { type Dns, dnsCode, isNoRecord } from "./dns.ts";
import type { DnsRecord, RecordVerdict } from "./domain-records.ts";

export type DomainDns = Pick<Dns, "resolveTxt" | "resolveMx" | "resolveCname">;

/** One verdict for each record, in order. Never rejects: if a resolver fails, the verdict is `unknown`. */
export function checkRecords(
  dns: DomainDns,
  records: readonly DnsRecord[],
): Promise<readonly RecordVerdict[]> {
  return Promise.all(
    records.map(async (record) => {
      const finding = await (record.type === "TXT" ? checkTxt(dns, record) : checkReturnPath(dns, record));
      const found = finding.found.slice(0, MAX_FOUND).map((text) => text.slice(0, MAX_FOUND_LENGTH));
      return { type: record.type, name: record.name, ...finding, found };
    }),
  );
}

/** How much of what was found is kept: strangers decide how much their zones hold. */
const MAX_FOUND = 5;
const MAX_FOUND_LENGTH = 512;

type Finding = Pick<RecordVerdict, "result" | "found" | "problem">;

async function checkTxt(dns: DomainDns, record: DnsRecord): Promise<Finding> {
  const answer = await lookUp(async () => {
    const entries = await dns.resolveTxt(record.name);
    return entries.map((strings) => strings.join("").trim());
  });
  if ("failure" in answer) return unknown(answer.failure);
  const { found } = answer;
  // Some resolvers (Bun 1.4's among them) give the strings of one long record as if they were records of their own.
  const values = [...found, found.join("")];
  if (values.some((value) => isSame(record, value))) return { result: "ok", found };
  if (found.length === 0) return { result: "missing", found, problem: "no TXT record yet" };
  return { result: "wrong", found, problem: "there is a TXT record, but with another value" };
}

/** A DKIM record is a list of tags (RFC 6376 §3.6.1), of which only the key has to match. Any DMARC policy is accepted. */
function isSame({ purpose, value }: DnsRecord, found: string): boolean {
  if (purpose === "dmarc") return /^v=DMARC1\s*;/.test(found);
  return purpose === "dkim" ? dkimKey(found) === dkimKey(value) : found === value;
}

function dkimKey(value: string): string | undefined {
  const tags = value.split(";").map((tag) => tag.replaceAll(/\s/g, ""));
  return tags.find((tag) => tag.startsWith("p="));
}

/** The CNAME as shown, or any MX records: for domains that cannot have a CNAME, or take their bounces elsewhere. */
async function checkReturnPath(dns: DomainDns, record: DnsRecord): Promise<Finding> {
  const [alias, mail] = await Promise.all([
    lookUp(async () => (await dns.resolveCname(record.name)).map(plainName)),
    lookUp(async () => {
      const hosts = await dns.resolveMx(record.name);
      // An empty exchange is a null MX (RFC 7505): this host takes no mail.
      return hosts.map(({ exchange }) => plainName(exchange)).filter((exchange) => exchange !== "");
    }),
  ]);
  const names = "found" in alias ? alias.found : [];
  if (names.includes(plainName(record.value))) return { result: "ok", found: names };
  if ("failure" in mail) return { ...unknown(mail.failure), found: names };
  // Any MX will do. But if the CNAME could not be looked up, these may be the MX of the host that it leads to, and that host is
  // known to be ours only if our own is among them.
  const isTold = !("failure" in alias) || mail.found.includes(plainName(record.value));
  if (!isTold) return unknown(alias.failure);
  if (mail.found.length > 0) return { result: "ok", found: mail.found.map((host) => `MX ${host}`) };
  return names.length > 0
    ? { result: "wrong", found: names, problem: "the alias leads elsewhere, to a host without MX" }
    : { result: "missing", found: names, problem: "no CNAME and no MX record yet" };
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

function unknown(problem: string): Finding {
  return { result: "unknown", found: [], problem };
}

type Answer = { readonly found: readonly string[] } | { readonly failure: string };

async function lookUp(ask: () => Promise<readonly string[]>): Promise<Answer> {
  try {
    return { found: await ask() };
  } catch (error) {
    if (isNoRecord(error)) return { found: [] };
    return { failure: `DNS could not be asked (${dnsCode(error)}); try again later` };
  }
}
