/** A domain that an account sends email from: whether it is verified, its DKIM keys, and what was found in its DNS. */
import type { RecordVerdict } from "./domain-records.ts";

export interface Domain {
  readonly id: string;
  readonly accountId: string;
  /** As `domainKey` writes it. Rows from before domains were normalised may hold another spelling, in lower case. */
  readonly domain: string;
  /** Value of the ownership TXT record. */
  readonly ownershipToken: string;
  /** Oldest first, at least one. Sealed at rest. */
  readonly dkimKeys: readonly DkimPair[];
  /** Since when email may be sent from it; absent: it may not. */
  readonly verifiedAt?: number;
  /** Since when a verified domain's records have not all been there. */
  readonly failingSince?: number;
  /** When it stopped being verified, because its records had been missing for too long. */
  readonly lapsedAt?: number;
  /** What the last check of the DNS found. */
  readonly lastCheck?: { readonly at: number; readonly records: readonly RecordVerdict[] };
  /** When upkeep checks it next; absent: at once. */
  readonly nextCheckAt?: number;
  readonly createdAt: number;
}

/** An RSA and an Ed25519 key that sign side by side (RFC 8463 §4), each under a selector of its own. */
export interface DkimPair {
  /** The selector of the RSA key; that of the Ed25519 key is the same with `-ed`. */
  readonly selector: string;
  /** Base64 DER (SPKI), for the `p=` of the record. */
  readonly rsaPublicKey: string;
  /** PEM. */
  readonly rsaPrivateKey: string;
  /** Base64 of the 32 octets. */
  readonly ed25519PublicKey: string;
  /** PEM. */
  readonly ed25519PrivateKey: string;
  readonly createdAt: number;
  /** Since when both records have been in the DNS; absent: not yet. */
  readonly seenAt?: number;
  /** When a newer pair took over. */
  readonly replacedAt?: number;
}

/** `failing`: its records are missing, but it may still send for a while. `lapsed`: that time is over. */
export const DOMAIN_STATES = ["pending", "verified", "failing", "lapsed"] as const;
export type DomainState = (typeof DOMAIN_STATES)[number];

export function stateOf({ verifiedAt, failingSince, lapsedAt }: Domain): DomainState {
  if (verifiedAt === undefined) return lapsedAt === undefined ? "pending" : "lapsed";
  return failingSince === undefined ? "verified" : "failing";
}

/**
 * The row to send from, of all rows of one domain. There is more than one only in databases from before domains were
 * normalised: upgrading keeps those rows, since only the owner's verified one counts.
 */
export function senderDomain(rows: readonly Domain[]): Domain | undefined {
  const inState = (state: DomainState) => rows.find((row) => stateOf(row) === state);
  return inState("verified") ?? inState("failing") ?? rows[0];
}

/** The pair that signs: the newest whose records were seen in DNS, or the first if none were. */
export function signingPair({ dkimKeys }: Pick<Domain, "dkimKeys">): DkimPair | undefined {
  return dkimKeys.findLast(({ seenAt }) => seenAt !== undefined) ?? dkimKeys[0];
}

/** The pair that will sign once its records are seen; there is at most one. */
export function nextPair(domain: Pick<Domain, "dkimKeys">): DkimPair | undefined {
  const last = domain.dkimKeys.at(-1);
  return last === signingPair(domain) ? undefined : last;
}

export function ed25519Selector({ selector }: DkimPair): string {
  return `${selector}-ed`;
}
