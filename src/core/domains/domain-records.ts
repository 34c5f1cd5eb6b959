/** The DNS records that a domain needs to send email. */
import { domainKey } from "../suppressions/address-key.ts";
import { type DkimPair, type Domain, ed25519Selector, nextPair, signingPair } from "./domain.ts";

export const RECORD_PURPOSES = ["ownership", "dkim", "return_path", "dmarc"] as const;
export const DNS_TYPES = ["TXT", "CNAME"] as const;

export interface DnsRecord {
  readonly purpose: (typeof RECORD_PURPOSES)[number];
  readonly type: (typeof DNS_TYPES)[number];
  readonly name: string;
  readonly value: string;
  /** TXT: the value in strings of at most 255 octets, as zone files want long ones (RFC 1035 §3.3.14). */
  readonly strings?: readonly string[];
  readonly role: RecordRole;
}

/**
 * `required`: without the record the domain is not verified. `next`: the record of keys that will sign once it is there.
 * `retiring`: the record of keys that no longer sign; keep it until the mail that they signed has arrived. `advised`: not needed.
 */
export const RECORD_ROLES = ["required", "next", "retiring", "advised"] as const;
export type RecordRole = (typeof RECORD_ROLES)[number];

export const RECORD_RESULTS = ["ok", "wrong", "missing", "unknown"] as const;

/** What a check found for one record. */
export interface RecordVerdict {
  readonly type: DnsRecord["type"];
  readonly name: string;
  readonly result: (typeof RECORD_RESULTS)[number];
  /** The values in DNS under the name: the first five, shortened. */
  readonly found: readonly string[];
  /** What is wrong, in words. */
  readonly problem?: string;
}

/** All records of a domain. `returnPathHost`: the host that takes bounces; absent: the CNAME leads to the domain itself. */
export function recordsOf(domain: Domain, returnPathHost: string | undefined): readonly DnsRecord[] {
  const name = domainKey(domain.domain);
  const signing = signingPair(domain);
  const next = nextPair(domain);
  const roleOf = (pair: DkimPair) => (pair === signing ? "required" : pair === next ? "next" : "retiring");
  return [
    txt("ownership", `_postrider.${name}`, domain.ownershipToken),
    ...domain.dkimKeys.flatMap((pair) =>
      dkimRecords(pair, name).map((record) => ({ ...record, role: roleOf(pair) }) as const),
    ),
    {
      purpose: "return_path",
      type: "CNAME",
      name: returnPathName(domain),
      value: returnPathHost?.toLowerCase() ?? name,
      role: "required",
    },
    { ...txt("dmarc", `_dmarc.${name}`, "v=DMARC1; p=none"), role: "advised" },
  ];
}

/** The host to which bounces of the domain's mail go, once the record is there. */
function returnPathName({ domain }: Pick<Domain, "domain">): string {
  return `bounce.${domainKey(domain)}`;
}

/** The domain's return path, if the last check found that it leads to `host`; otherwise `undefined`, since bounces would be lost. */
export function returnPathOf(domain: Domain, host: string): string | undefined {
  const name = returnPathName(domain);
  const verdict = domain.lastCheck?.records.find((record) => record.type === "CNAME" && record.name === name);
  const wanted = host.toLowerCase();
  return verdict?.found.some((found) => found.replace(/^MX /, "") === wanted) ? name : undefined;
}

/** The records of a pair of keys (RFC 6376 §3.6.1, RFC 8463 §4.2). */
export function dkimRecords(pair: DkimPair, domainName: string): readonly DnsRecord[] {
  const at = (selector: string) => `${selector}._domainkey.${domainName}`;
  return [
    txt("dkim", at(pair.selector), `v=DKIM1; k=rsa; p=${pair.rsaPublicKey}`),
    txt("dkim", at(ed25519Selector(pair)), `v=DKIM1; k=ed25519; p=${pair.ed25519PublicKey}`),
  ];
}

/** The record as a line of a zone file. */
export function zoneLine({ type, name, value, strings }: DnsRecord): string {
  const data = type === "TXT" ? (strings ?? [value]).map((each) => `"${each}"`).join(" ") : `${value}.`;
  return `${name}. 3600 IN ${type} ${data}`;
}

function txt(purpose: DnsRecord["purpose"], name: string, value: string): DnsRecord {
  const strings = value.match(/.{1,255}/g) ?? [];
  return { purpose, type: "TXT", name, value, strings, role: "required" };
}
